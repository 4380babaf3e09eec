;;; codelaw.el --- codelaw's chat files through eglot  -*- lexical-binding: t -*-

;; Package-Requires: ((emacs "28.1") (eglot "1.9"))

;;; Commentary:

;; Files whose names end with .chat.md are chats: write a question below the last "## You", then M-x codelaw-send.
;; eglot runs one server for a buffer, so this file leaves the servers of your languages alone.  To have codelaw's code
;; actions in other buffers, and let it see their unsaved text, name their modes in `codelaw-modes' before you load it.

;;; Code:

(require 'cl-lib)
(require 'eglot)

(defgroup codelaw nil
  "A coding agent in a language server."
  :group 'tools)

(defcustom codelaw-command '("codelaw" "serve")
  "The server's command line."
  :type '(repeat string))

(defcustom codelaw-modes nil
  "Major modes, besides that of chat files, which codelaw serves."
  :type '(repeat symbol))

(defvar codelaw-chat-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-c") #'codelaw-send)
    (define-key map (kbd "C-c C-k") #'codelaw-stop)
    (define-key map (kbd "C-c C-u") #'codelaw-undo)
    map)
  "Keys of chat files.")

(define-derived-mode codelaw-chat-mode text-mode "codelaw"
  "A chat with codelaw: a Markdown file in which its answers appear.
\\{codelaw-chat-mode-map}"
  (setq-local outline-regexp "#+ ")
  (setq-local font-lock-defaults
              '((("^#+ .*$" . 'bold) ("^> .*$" . 'shadow) ("<!--.*?-->" . 'shadow) ("`[^`\n]+`" . 'italic))))
  (outline-minor-mode 1))

(cl-defmethod eglot-handle-request :around
  (_server (_method (eql workspace/applyEdit)) &key edit &allow-other-keys)
  "Take an EDIT of chat files without asking: an answer is several edits."
  (if (codelaw--chat-edit-p edit)
      (cl-progv '(eglot-confirm-server-initiated-edits eglot-confirm-server-edits) (list nil nil)
        (cl-call-next-method))
    (cl-call-next-method)))

(defun codelaw--chat-edit-p (edit)
  "Whether EDIT, a workspace edit, changes chat files and nothing else."
  (let ((changes (append (plist-get edit :documentChanges) nil)))
    (and changes
         (cl-every (lambda (change)
                     (string-suffix-p ".chat.md" (or (plist-get (plist-get change :textDocument) :uri) "")))
                   changes))))

(add-to-list 'auto-mode-alist '("\\.chat\\.md\\'" . codelaw-chat-mode))
(add-to-list 'eglot-server-programs (cons (cons 'codelaw-chat-mode codelaw-modes) codelaw-command))
(add-hook 'codelaw-chat-mode-hook #'eglot-ensure)

(defun codelaw--run (command)
  "Run a COMMAND of the server on this chat file."
  (let ((server (eglot-current-server)))
    (unless (and server buffer-file-name)
      (user-error "This is no file that codelaw serves; M-x eglot starts the server"))
    (eglot--signal-textDocument/didChange)
    (eglot-execute-command server command (vector (list :uri (eglot--path-to-uri buffer-file-name))))))

(defun codelaw-send ()
  "Send the question at the end of this chat file."
  (interactive)
  (codelaw--run 'codelaw.chatFile.send))

(defun codelaw-stop ()
  "Stop what runs in this chat file."
  (interactive)
  (codelaw--run 'codelaw.chatFile.stop))

(defun codelaw-undo ()
  "Undo what the last turn of this chat file did to files."
  (interactive)
  (codelaw--run 'codelaw.chatFile.undo))

(provide 'codelaw)

;;; codelaw.el ends here
