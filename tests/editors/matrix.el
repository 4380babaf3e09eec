;;; matrix.el --- lets things happen to files between two turns, in Emacs with eglot  -*- lexical-binding: t -*-
;; Reads its cells from $DRIVE_CELLS and writes one JSON line per cell to $DRIVE_OUT.

;;; Code:

(require 'package)
(package-initialize)
(require 'eglot)
(require 'json)

(defconst drive-before "one = 1\ntwo = 2\n")
(defvar drive-server nil)

(defun drive-tell (name value)
  "Write down the VALUE of NAME."
  (let ((coding-system-for-write 'utf-8))
    (write-region (concat (json-encode (list (cons "name" name) (cons "value" value))) "\n")
                  nil (getenv "DRIVE_OUT") t 'quiet)))

(defun drive-ask (method params)
  "The answer to METHOD with PARAMS; meanwhile changes are told as by an Emacs that is idle now and then."
  (let ((until (+ (float-time) 150)) (turns 0) answer)
    (when (eglot-managed-p) (eglot--signal-textDocument/didChange))
    (jsonrpc-async-request drive-server method params
                           :success-fn (lambda (result) (setq answer (list result)))
                           :error-fn (lambda (problem) (error "%S" problem))
                           :timeout 150)
    (while (and (not answer) (< (float-time) until))
      (accept-process-output nil 0.02)
      (when (and (eglot-managed-p) (zerop (mod (setq turns (1+ turns)) 5)))
        (eglot--signal-textDocument/didChange)))
    (unless answer (error "Never answered: %s" method))
    (car answer)))

(defun drive-turn (&optional chat)
  "A turn in CHAT or a new one; gives the chat."
  (let ((result (drive-ask :codelaw/chat/send (append '(:text "go") (and chat (list :chatId chat))))))
    (unless (equal (plist-get result :stopReason) "finished") (error "%S" result))
    (plist-get result :chatId)))

(defun drive-spit (path text)
  "Write TEXT to PATH behind the back of its buffer."
  (let ((coding-system-for-write 'utf-8))
    (write-region text nil path nil 'quiet)))

(defun drive-happen (event path opened chat)
  "Let EVENT happen to PATH, which is OPENED or not, after a turn in CHAT."
  (pcase event
    ("disk edit" (drive-spit path "one = 1\ntwo = 22\n"))
    ("buffer edit"
     (unless opened (find-file path))
     (goto-char (point-min))
     (insert "zero = 0\n"))
    ("own edit" (drive-turn chat))
    ("formatter"
     (unless opened (find-file path))
     (drive-turn chat)
     (add-hook 'before-save-hook
               (lambda () (goto-char (point-min)) (while (search-forward "   " nil t) (replace-match " ")))
               90 t)
     (save-buffer)
     (unless opened (kill-buffer)))
    ("touch" (set-file-times path 1))
    ("delete" (delete-file path))
    ("rename" (rename-file path (concat path ".new")))
    ("symlink"
     (let ((outside (expand-file-name "../outside" (getenv "DRIVE_WORKSPACE"))))
       (drive-spit outside drive-before)
       (delete-file path)
       (make-symbolic-link outside path)))))

(defun drive ()
  "Drive."
  (setq eglot-sync-connect 150
        eglot-connect-timeout 150
        eglot-confirm-server-initiated-edits nil
        eglot-autoshutdown nil
        make-backup-files nil
        create-lockfiles nil)
  ;; Emacs asks when a file is newer than its buffer: this person changes the buffer and does not read the file again.
  (fset 'yes-or-no-p #'ignore)
  (load "userlock" nil t)
  (fset 'userlock--ask-user-about-supersession-threat #'ignore)
  (let ((command (append (json-parse-string (getenv "DRIVE_SERVER") :array-type 'list)
                         (list :initializationOptions
                               (json-parse-string (getenv "DRIVE_SETTINGS") :object-type 'plist)))))
    (add-to-list 'eglot-server-programs (cons 'python-mode command)))
  (find-file (expand-file-name "anchor.py" (getenv "DRIVE_WORKSPACE")))
  (python-mode)
  (apply #'eglot (eglot--guess-contact))
  (setq drive-server (eglot-current-server))
  (seq-doseq (cell (json-parse-string (getenv "DRIVE_CELLS") :object-type 'alist :false-object nil))
    (let* ((file (alist-get 'file cell))
           (opened (alist-get 'opened cell))
           (path (expand-file-name file (getenv "DRIVE_WORKSPACE")))
           chat last)
      (drive-spit path drive-before)
      (when opened (find-file path))
      (setq chat (drive-turn))
      (drive-happen (alist-get 'event cell) path opened chat)
      (drive-turn chat)
      (seq-doseq (message (plist-get (drive-ask :codelaw/chat/read (list :chatId chat)) :messages))
        (when (equal (plist-get message :role) "tool")
          (setq last (plist-get message :content))))
      (drive-tell file last)
      (when-let ((buffer (find-buffer-visiting path)))
        (with-current-buffer buffer (set-buffer-modified-p nil))
        (kill-buffer buffer))))
  (eglot-shutdown drive-server))

(condition-case problem
    (drive)
  (error (drive-tell "error" (format "%S" problem))))
(kill-emacs 0)

;;; matrix.el ends here
