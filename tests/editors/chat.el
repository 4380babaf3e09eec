;;; chat.el --- talks with codelaw in Emacs, through the recipe of editor-client  -*- lexical-binding: t -*-
;; Writes one JSON line per observation to $DRIVE_OUT.

;;; Code:

(require 'package)
(package-initialize)
(require 'json)
(setq eglot-sync-connect 150 eglot-connect-timeout 150 eglot-autoshutdown nil make-backup-files nil create-lockfiles nil)
(load (getenv "DRIVE_RECIPE") nil t)
(setq codelaw-command (json-parse-string (getenv "DRIVE_SERVER") :array-type 'list)
      codelaw-settings (json-parse-string (getenv "DRIVE_SETTINGS") :object-type 'plist))

;; A batch Emacs does not read the events of watched files, and with one unread it overlooks that a process ended.
(cl-defmethod eglot-register-capability
  ((_server codelaw-server) (_method (eql workspace/didChangeWatchedFiles)) _id &rest _)
  "Watch nothing.")

(defun drive-tell (name value)
  "Write down the VALUE of NAME."
  (let ((coding-system-for-write 'utf-8))
    (write-region (concat (json-encode (list (cons "name" name) (cons "value" value))) "\n")
                  nil (getenv "DRIVE_OUT") t 'quiet)))

(defun drive-until (what check)
  "Wait for CHECK, which is WHAT."
  (with-timeout (150 (error "Never: %s: %s" what (drive-shown)))
    (while (not (funcall check)) (accept-process-output nil 0.01))))

(defun drive-shown ()
  "The text of the chat's buffer."
  (with-current-buffer (codelaw--buffer) (buffer-substring-no-properties (point-min) (point-max))))

(defun drive-shows (text)
  "Wait until TEXT is shown."
  (drive-until text (lambda () (string-match-p (regexp-quote text) (drive-shown)))))

(defun drive-ended ()
  "Wait for the end of the turn."
  (drive-until "the end of the turn" (lambda () (not codelaw--running))))

(defun drive-answer (key)
  "Go to the open question, choose the answer KEY, and give it."
  (codelaw-answer)
  (dolist (each (list key ?\r))
    (let ((last-command-event each))
      (call-interactively (lookup-key codelaw-question-mode-map (string each))))))

(defun drive ()
  "Drive."
  (find-file (expand-file-name "calc.py" (getenv "DRIVE_WORKSPACE")))
  (goto-char (point-min))
  (set-mark (point))
  (forward-line 1)
  (setq transient-mark-mode t mark-active t)

  ;; A question, its answer in pieces, a call that is allowed by its key.
  (codelaw "Mend it, please")
  (drive-shows "the sign is")
  (drive-tell "early" (drive-shown))
  (drive-until "a question" (lambda () codelaw--asked))
  (drive-tell "asked" (drive-shown))
  (drive-answer ?1)
  ;; A command that is refused, with a reason.
  (drive-until "a second question" (lambda () codelaw--asked))
  (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "it takes too long")))
    (codelaw-answer)
    (drive-tell "offered" (buffer-substring-no-properties (point-min) (point-max)))
    (drive-answer ?4))
  (drive-ended)
  (drive-tell "first" (drive-shown))
  (with-current-buffer "calc.py"
    (drive-tell "code" (list (buffer-string) (buffer-modified-p))))

  ;; A word to the running turn.
  (codelaw "And now something long")
  (drive-shows "so much to think")
  (codelaw "make it short")
  (drive-ended)
  (drive-tell "steered" (drive-shown))

  ;; A question that is withdrawn, and the end of a turn.
  (codelaw "Run it")
  (drive-until "a third question" (lambda () codelaw--asked))
  (codelaw-cancel)
  (drive-ended)
  (drive-until "no question" (lambda () (not codelaw--asked)))
  (drive-tell "cancelled" (drive-shown))

  ;; The server dies, and the chat goes on with the next one.
  (let ((chat codelaw--chat) (old codelaw--server))
    (setf (eglot--inhibit-autoreconnect old) nil)
    (setq codelaw-settings (json-parse-string (getenv "DRIVE_SETTINGS_AGAIN") :object-type 'plist))
    (signal-process (jsonrpc--process old) 'SIGKILL)
    (drive-until "another server" (lambda () (and (not (eq old codelaw--server)) (not codelaw--waiting))))
    (codelaw "Are you there?")
    (drive-shows "Still here.")
    (drive-ended)
    (drive-tell "again" (list (equal chat codelaw--chat) (drive-shown)))
    ;; Another chat, and back to the first.
    (codelaw-new)
    (codelaw "Who are you?")
    (drive-shows "Another one.")
    (drive-ended)
    (drive-tell "other" (list (equal chat codelaw--chat) (drive-shown)))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_ table &rest _)
                 (seq-find (lambda (title) (string-match-p "Mend it" title)) (all-completions "" table)))))
      (codelaw-chats))
    (drive-shows "Still here.")
    (drive-tell "back" (list (equal chat codelaw--chat) (drive-shown))))
  (eglot-shutdown codelaw--server))

(condition-case problem
    (drive)
  (error (drive-tell "error" (format "%S" problem))))
(kill-emacs 0)

;;; chat.el ends here
