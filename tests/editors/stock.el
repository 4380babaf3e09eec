;;; stock.el --- drives a stock Emacs with eglot  -*- lexical-binding: t -*-
;; A code action with an approval, then a chat file.  Writes one JSON line per observation to $DRIVE_OUT.

;;; Code:

(require 'package)
(package-initialize)
(require 'eglot)
(require 'json)

(defun drive-tell (name value)
  "Write down the VALUE of NAME."
  (let ((coding-system-for-write 'utf-8))
    (write-region (concat (json-encode (list (cons "name" name) (cons "value" value))) "\n")
                  nil (getenv "DRIVE_OUT") t 'quiet)))

(defvar drive-messages nil "What the server has told the user.")
(advice-add 'eglot--message :before
            (lambda (format &rest rest) (push (apply #'format format rest) drive-messages)))

(defvar drive-choices nil "What is picked from the next lists.")
(defun drive-choose (prompt collection &rest _)
  "Pick from COLLECTION by `drive-choices', as a person would after PROMPT."
  (let* ((titles (mapcar (lambda (item) (if (consp item) (car item) item)) collection))
         (wanted (pop drive-choices)))
    (drive-tell "offered" (list prompt (vconcat titles)))
    (or (seq-find (lambda (title) (string-match-p (regexp-quote wanted) title)) titles)
        (error "Not offered: %s" wanted))))

(defun drive-until (what check)
  "Wait for CHECK, which is WHAT; Emacs tells the server of changes when it is idle."
  (let ((patience 3000))
    (while (not (funcall check))
      (when (< (setq patience (1- patience)) 0)
        (error "Never: %s" what))
      (accept-process-output nil 0.05)
      (when (and (eglot-managed-p) (zerop (mod patience 6)))
        (eglot--signal-textDocument/didChange)))))

(defun drive-text ()
  "The buffer's text."
  (buffer-substring-no-properties (point-min) (point-max)))

(defun drive ()
  "Drive."
  (setq eglot-sync-connect 150
        eglot-connect-timeout 150
        eglot-confirm-server-initiated-edits nil
        eglot-autoshutdown nil
        completing-read-function #'drive-choose
        last-nonmenu-event ?x
        make-backup-files nil
        create-lockfiles nil)
  (let ((command (append (json-parse-string (getenv "DRIVE_SERVER") :array-type 'list)
                         (list :initializationOptions
                               (json-parse-string (getenv "DRIVE_SETTINGS") :object-type 'plist)))))
    (add-to-list 'eglot-server-programs (cons '(python-mode text-mode) command)))
  (find-file (expand-file-name "calc.py" (getenv "DRIVE_WORKSPACE")))
  (python-mode)
  (apply #'eglot (eglot--guess-contact))
  (drive-until "the server is there" #'eglot-managed-p)

  (setq drive-choices '("write a test" "Allow once"))
  (goto-char (point-min))
  (eglot-code-actions (line-beginning-position 2) (line-end-position 2) nil t)
  (drive-until "the answer is shown"
               (lambda () (seq-find (lambda (text) (string-match-p "tested" text)) drive-messages)))
  (drive-tell "message" (seq-find (lambda (text) (string-match-p "tested" text)) drive-messages))
  (drive-tell "code" (drive-text))
  (drive-tell "modified" (if (buffer-modified-p) t json-false))
  (save-buffer)

  (find-file (expand-file-name "talk.chat.md" (getenv "DRIVE_WORKSPACE")))
  (insert "## You\n\nWas ist 🦊?")
  (text-mode)
  (save-buffer)
  (eglot--maybe-activate-editing-mode)
  (drive-until "the chat file is managed" #'eglot-managed-p)
  (setq drive-choices '("Send"))
  (let ((changes 0))
    (add-hook 'after-change-functions (lambda (&rest _) (setq changes (1+ changes))) nil t)
    (goto-char (point-max))
    (eglot-code-actions (point) (point) nil t)
    (drive-until "the answer begins" (lambda () (string-match-p "Piece 1 " (drive-text))))
    (goto-char (point-max))
    (insert "typed meanwhile")
    (drive-until "the answer ends" (lambda () (string-match-p "<!-- /turn [a-z0-9]+ -->" (drive-text))))
    (drive-tell "changes" changes))
  (drive-tell "chat" (drive-text))
  (save-buffer)
  (eglot-shutdown (eglot-current-server)))

(condition-case problem
    (drive)
  (error (drive-tell "error" (format "%S" problem))
         (drive-tell "messages" (vconcat drive-messages))))
(kill-emacs 0)

;;; stock.el ends here
