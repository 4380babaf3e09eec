;;; keys.el --- lets somebody else type into an Emacs with the recipe  -*- lexical-binding: t -*-
;; The terminal of this Emacs is held by a test.  A few times a second it writes down to $DRIVE_OUT what can be seen,
;; and it evaluates what it finds in $DRIVE_DO.

;;; Code:

(require 'package)
(package-initialize)
(require 'json)
(setq eglot-sync-connect 150 eglot-connect-timeout 150 eglot-autoshutdown nil make-backup-files nil create-lockfiles nil auto-save-default nil
      inhibit-startup-screen t ring-bell-function #'ignore enable-local-variables nil project-vc-ignores nil)
(load (getenv "DRIVE_RECIPE") nil t)
(setq codelaw-command (json-parse-string (getenv "DRIVE_SERVER") :array-type 'list)
      codelaw-settings (json-parse-string (getenv "DRIVE_SETTINGS") :object-type 'plist))

(defun drive-write (path text)
  "Let PATH hold TEXT, at once."
  (let ((coding-system-for-write 'utf-8))
    (write-region text nil (concat path ".new") nil 'quiet)
    (rename-file (concat path ".new") path t)))

(defun drive-text (name)
  "The beginning of the text of the buffer called NAME."
  (when-let ((buffer (get-buffer name)))
    (with-current-buffer buffer (save-restriction (widen) (buffer-substring-no-properties (point-min) (min (point-max) 10000))))))

(defvar drive-done 0 "How many things were done.")
(defvar drive-problem nil "The last error.")

(defun drive-see ()
  "Write down what can be seen, and do what is to be done."
  (let ((todo (concat (getenv "DRIVE_DO") "." (number-to-string drive-done))))
    (when (file-exists-p todo)
      (setq drive-done (1+ drive-done))
      (condition-case problem
          (with-temp-buffer
            (insert-file-contents todo)
            (let ((form (read (current-buffer))))
              (with-current-buffer (window-buffer (selected-window)) (eval form t))))
        (error (setq drive-problem (format "%S" problem))))))
  (drive-write
   (getenv "DRIVE_OUT")
   (json-serialize
    (list :done drive-done :problem (or drive-problem :null)
          :selected (buffer-name (window-buffer (selected-window)))
          :minibuffer (minibuffer-depth)
          :message (or (current-message) "")
          :asked (length (and (boundp 'codelaw--asked) codelaw--asked))
          :running (if (bound-and-true-p codelaw--running) t :false)
          :question (or (when-let ((window (seq-find (lambda (window)
                                                       (string-prefix-p "*codelaw asks*" (buffer-name (window-buffer window))))
                                                     (window-list))))
                          (drive-text (buffer-name (window-buffer window))))
                        :null)
          :chat (or (drive-text "*codelaw*") :null)
          :buffers (apply #'append
                          (mapcar (lambda (buffer)
                                    (with-current-buffer buffer
                                      (when buffer-file-name
                                        (list (intern (concat ":" (file-name-nondirectory buffer-file-name)))
                                              (list :text (drive-text (buffer-name))
                                                    :line (line-number-at-pos)
                                                    :modified (if (buffer-modified-p) t :false)
                                                    :shared (if (bound-and-true-p codelaw--document) t :false))))))
                                  (buffer-list)))))))

(run-with-timer 0.1 0.05 #'drive-see)

;;; keys.el ends here
