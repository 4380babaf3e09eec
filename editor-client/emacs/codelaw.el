;;; codelaw.el --- codelaw through eglot  -*- lexical-binding: t -*-

;; Package-Requires: ((emacs "28.1") (eglot "1.9"))

;;; Commentary:

;; M-x codelaw asks a question, with the region if there is one; the answer streams into the buffer *codelaw*.  While a
;; turn runs, M-x codelaw is a word to that turn.  What needs your approval is shown in a window of its own, which never
;; takes the cursor: M-x codelaw-answer goes there, the keys 1, 2, … choose, and RET answers.
;;
;; Files whose names end with .chat.md are chats too: write a question below the last "## You", then M-x codelaw-send.
;;
;; All files of the project that are open are shared with the server: it reads their unsaved text and changes them in
;; their buffers.  eglot runs one server for a buffer, so this file leaves the servers of your languages alone.  To have
;; codelaw's code actions in other buffers, name their modes in `codelaw-modes' before you load it.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'eglot)
(require 'rx)
(require 'text-property-search)

(defgroup codelaw nil
  "A coding agent in a language server."
  :group 'tools)

(defcustom codelaw-command '("codelaw" "serve")
  "The server's command line."
  :type '(repeat string))

(defcustom codelaw-settings nil
  "The server's settings, nested: (:model (:name \"…\")).
They count from its next start."
  :type 'plist)

(defcustom codelaw-modes nil
  "Major modes, besides that of chat files, which codelaw serves."
  :type '(repeat symbol))

(defcustom codelaw-largest (* 8 1024 1024)
  "Characters.
What is larger is read from the disk, without its unsaved changes."
  :type 'integer)

(defvar codelaw-event-functions nil
  "Called with each event of the shown chat, after it was shown.")

;;;; The server

(defclass codelaw-server (eglot-lsp-server) ()
  :documentation "A connection to codelaw.")

(defvar codelaw--server nil "The connection of the shown chat.")
(defvar codelaw--chat nil "The id of the shown chat, or nil before its first answer.")
(defvar codelaw--seq 0 "The number of the last event that is shown.")
(defvar codelaw--running nil "Whether a turn of the shown chat runs.")
(defvar codelaw--stopping nil "Whether the turn shall be cancelled as soon as its chat is known.")
(defvar codelaw--waiting nil "Events that came while the chat is read, newest first; t when there are none.")
(defvar codelaw--asked nil "Open questions, oldest first; only the first one is shown.")
(defvar codelaw--file-chats nil "Ids of chats that are shown in chat files; t while one is sent.")

(cl-defmethod eglot-client-capabilities :around ((_server codelaw-server))
  "Say that this client takes events and answers questions."
  (let ((nothing (make-hash-table)))
    (plist-put (cl-call-next-method) :experimental
               `(:codelaw (:events ,nothing :approvals ,nothing :editor (:save ,nothing))))))

(cl-defmethod eglot-initialization-options ((_server codelaw-server))
  "The settings."
  (or codelaw-settings (make-hash-table)))

(defun codelaw--contact (&rest _)
  "How eglot reaches the server."
  (cons 'codelaw-server codelaw-command))

(defun codelaw--connection ()
  "The connection for the shown chat, or a new one for the current project."
  (unless (and codelaw--server (jsonrpc-running-p codelaw--server))
    (setq codelaw--server
          (or (seq-find #'codelaw-server-p (gethash (eglot--current-project) eglot--servers-by-project))
              (let ((eglot-autoshutdown nil)) ; the server outlives the buffer that it is started from
                (with-temp-buffer
                  (setq buffer-file-name (expand-file-name "new.chat.md"))
                  (delay-mode-hooks (codelaw-chat-mode))
                  (unwind-protect (let ((eglot-sync-connect t)) (apply #'eglot (eglot--guess-contact)))
                    (when (eglot-managed-p)
                      (eglot--signal-textDocument/didClose)
                      (remove-hook 'kill-buffer-hook 'eglot--signal-textDocument/didClose t))
                    (setq buffer-file-name nil))))
              (user-error "The server did not start; M-x eglot-stderr-buffer shows why"))))
  codelaw--server)

(defun codelaw--request (method params &optional done failed)
  "Send METHOD with PARAMS; DONE gets the result.
FAILED is called after a problem was told."
  (let ((server (codelaw--connection)))
    (dolist (buffer (seq-filter #'buffer-live-p (eglot--managed-buffers server)))
      (with-current-buffer buffer (eglot--signal-textDocument/didChange)))
    (codelaw--tell-all)
    (jsonrpc-async-request
     server method params
     :timeout nil
     :success-fn (or done #'ignore)
     :error-fn (lambda (problem)
                 (codelaw--notice (string-join (delq nil (list (plist-get problem :message)
                                                               (plist-get (plist-get problem :data) :hint)))
                                               " "))
                 (when failed (funcall failed))))))

(defun codelaw--connected (server)
  "Go on with the shown chat when SERVER takes the place of one that ended."
  (when (codelaw-server-p server)
    (when (and codelaw--server (not (jsonrpc-running-p codelaw--server)))
      (setq codelaw--server server)
      (when codelaw--chat (codelaw--read)))
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer (codelaw--share)))))

(add-hook 'eglot-connect-hook #'codelaw--connected)

;;;; Documents

;; The server is told of every file of its project that is open, also where another server manages the buffer.  Changes
;; are told in whole lines, so that no encoding of columns matters.

(cl-defstruct (codelaw--document (:constructor codelaw--document) (:copier nil))
  "A buffer as the server knows it."
  server uri (version 0)
  size ; its length in characters
  lines ; how many line breaks it has
  tail ; the length of its last line, in the units of the server's columns
  before behind ; how many characters at its beginning and its end have not changed since; nil: none has
  expected ; what its length must be by now; nil: changes were missed
  )

(defvar-local codelaw--document nil "What codelaw knows of this buffer.")
(put 'codelaw--document 'permanent-local t)

(defvar codelaw--timer nil "Tells of changes when Emacs is idle.")

(defconst codelaw--hooks
  '((after-change-functions . codelaw--changed)
    (after-revert-hook . codelaw--reverted)
    (before-save-hook . codelaw--will-save)
    (after-save-hook . codelaw--saved)
    (kill-buffer-hook . codelaw--unshare)
    (after-set-visited-file-name-hook . codelaw--share))
  "What a shared buffer tells us; another major mode must not end it.")
(dolist (hook codelaw--hooks) (put (cdr hook) 'permanent-local-hook t))

(defun codelaw--encoding (server)
  "The units in which SERVER counts columns."
  (or (plist-get (eglot--capabilities server) :positionEncoding) "utf-16"))

(defun codelaw--units (encoding text)
  "The length of TEXT in ENCODING."
  (pcase encoding
    ("utf-8" (string-bytes text))
    ("utf-32" (length text))
    (_ (+ (length text) (seq-count (lambda (character) (> character #xffff)) text)))))

(defun codelaw--point (encoding position)
  "Where the POSITION of the protocol is, its column counted in ENCODING."
  (save-excursion
    (goto-char (point-min))
    (if (> (forward-line (plist-get position :line)) 0)
        (goto-char (point-max))
      (let ((column (plist-get position :character)))
        (while (and (> column 0) (not (eolp)))
          (setq column (- column (codelaw--units encoding (string (char-after)))))
          (forward-char))))
    (point)))

(defun codelaw--breaks (text)
  "TEXT with the line breaks that the file has on the disk."
  (if (eql (coding-system-eol-type buffer-file-coding-system) 1)
      (replace-regexp-in-string "\n" "\r\n" text t t)
    text))

(defun codelaw--server-of (file)
  "The running server whose project FILE belongs to."
  (let (found)
    (maphash (lambda (_project servers)
               (dolist (server servers)
                 (when (and (codelaw-server-p server) (jsonrpc-running-p server)
                            (file-in-directory-p file (project-root (eglot--project server))))
                   (setq found server))))
             eglot--servers-by-project)
    found))

(defun codelaw--share ()
  "Let codelaw see this buffer if it shows a file of its project."
  (let* ((file (and buffer-file-name
                    (not (buffer-base-buffer))
                    (not (file-remote-p buffer-file-name))
                    ;; eglot tells of the buffers that it gives to codelaw.
                    (not (and (eglot-managed-p) (codelaw-server-p (eglot-current-server))))
                    buffer-file-name))
         (server (and file (codelaw--server-of file)))
         (uri (and server (codelaw--uri file))))
    (when (and server (> (buffer-size) codelaw-largest))
      (message "codelaw: %s is too large to be shared: its unsaved changes are not seen" (buffer-name))
      (setq server nil))
    (when (and codelaw--document
               (not (and (eq server (codelaw--document-server codelaw--document))
                         (equal uri (codelaw--document-uri codelaw--document)))))
      (codelaw--unshare))
    (when (and server (not codelaw--document))
      (setq codelaw--document (codelaw--document :server server :uri uri))
      (pcase-dolist (`(,hook . ,function) codelaw--hooks) (add-hook hook function nil t))
      (codelaw--notify :textDocument/didOpen
                       (list :uri uri :version 0
                             :languageId (string-remove-suffix "-mode" (symbol-name major-mode))
                             :text (codelaw--whole-text)))
      (codelaw--told))))

(defun codelaw--unshare ()
  "Say that this buffer is closed."
  (when codelaw--document
    (pcase-dolist (`(,hook . ,function) codelaw--hooks) (remove-hook hook function t))
    (codelaw--notify :textDocument/didClose (list :uri (codelaw--document-uri codelaw--document)))
    (setq codelaw--document nil)))

(defun codelaw--notify (method document &rest more)
  "Send METHOD about DOCUMENT, with MORE params."
  (let ((server (codelaw--document-server codelaw--document)))
    (when (jsonrpc-running-p server)
      (jsonrpc-notify server method `(:textDocument ,document ,@more)))))

(defun codelaw--whole-text ()
  "The text of this buffer."
  (save-restriction
    (widen)
    (codelaw--breaks (buffer-substring-no-properties (point-min) (point-max)))))

(defun codelaw--told ()
  "Remember what the server knows now."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (point-max))
      (let ((told codelaw--document))
        (setf (codelaw--document-size told) (buffer-size)
              (codelaw--document-expected told) (buffer-size)
              (codelaw--document-lines told) (1- (line-number-at-pos))
              (codelaw--document-tail told)
              (codelaw--units (codelaw--encoding (codelaw--document-server told))
                              (buffer-substring-no-properties (line-beginning-position) (point)))
              (codelaw--document-before told) nil
              (codelaw--document-behind told) nil)))))

(defun codelaw--changed (begin end length)
  "Note that LENGTH characters have become those from BEGIN to END."
  (when-let ((told codelaw--document))
    (let ((before (1- begin)) (behind (- (buffer-size) (1- end))))
      (setf (codelaw--document-before told) (min before (or (codelaw--document-before told) before))
            (codelaw--document-behind told) (min behind (or (codelaw--document-behind told) behind)))
      (when (codelaw--document-expected told)
        (cl-incf (codelaw--document-expected told) (- end begin length))))
    (unless codelaw--timer
      (setq codelaw--timer (run-with-idle-timer 0.3 nil #'codelaw--tell-all)))))

(defun codelaw--reverted ()
  "Tell anew of a buffer whose text was read again."
  (when codelaw--document
    (setf (codelaw--document-before codelaw--document) 0
          (codelaw--document-behind codelaw--document) 0
          (codelaw--document-expected codelaw--document) nil)
    (codelaw--tell)))

(defun codelaw--tell-all ()
  "Tell the servers of all changes."
  (when codelaw--timer (cancel-timer codelaw--timer))
  (setq codelaw--timer nil)
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer (codelaw--tell))))

(defun codelaw--tell ()
  "Tell the server what has changed in this buffer."
  (when-let ((told codelaw--document) ((codelaw--document-before told)))
    (cl-incf (codelaw--document-version told))
    (codelaw--notify :textDocument/didChange
                     (list :uri (codelaw--document-uri told) :version (codelaw--document-version told))
                     :contentChanges
                     (vector (if (eql (codelaw--document-expected told) (buffer-size)) (codelaw--change told)
                               (list :text (codelaw--whole-text)))))
    (codelaw--told)))

(defun codelaw--change (told)
  "What has changed since the server was TOLD, in whole lines."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (1+ (codelaw--document-before told)))
      (forward-line 0)
      (let ((begin (point)) (line (1- (line-number-at-pos))) (lines (codelaw--document-lines told)) end)
        (goto-char (- (point-max) (codelaw--document-behind told)))
        ;; A line break that was there before: what follows it begins a line in both texts.
        (setq end (if (search-forward "\n" nil t)
                      (list :line (- lines (- (line-number-at-pos (point-max)) (line-number-at-pos))) :character 0)
                    (goto-char (point-max))
                    (list :line lines :character (codelaw--document-tail told))))
        (list :range (list :start (list :line line :character 0) :end end)
              :text (codelaw--breaks (buffer-substring-no-properties begin (point))))))))

(defun codelaw--will-save ()
  "Say that this buffer is about to be saved."
  (when codelaw--document
    (codelaw--tell)
    (codelaw--notify :textDocument/willSave (list :uri (codelaw--document-uri codelaw--document)) :reason 1)))

(defun codelaw--saved ()
  "Say that this buffer was saved."
  (when codelaw--document
    (codelaw--tell)
    (codelaw--notify :textDocument/didSave (list :uri (codelaw--document-uri codelaw--document)))))

(add-hook 'find-file-hook #'codelaw--share 90)
(add-hook 'eglot-managed-mode-hook #'codelaw--share) ; a buffer that eglot gives to codelaw is left to eglot

(defun codelaw--buffer-of (server uri)
  "The shared buffer that SERVER knows as URI."
  (seq-find (lambda (buffer)
              (when-let ((told (buffer-local-value 'codelaw--document buffer)))
                (and (eq server (codelaw--document-server told)) (equal uri (codelaw--document-uri told)))))
            (buffer-list)))

(defun codelaw--obstacle (version)
  "Why this buffer, of which the server knows VERSION, cannot be changed, or nil."
  (codelaw--tell)
  (cond ((not (or (null version) (eql version (codelaw--document-version codelaw--document))))
         "it has changed meanwhile")
        (buffer-read-only "its buffer is read-only")
        ((not (verify-visited-file-modtime)) "its file has changed on the disk")
        ((stringp (file-locked-p buffer-file-name)) "somebody else is editing its file")))

(defvar undo-auto--last-boundary-cause)

(defun codelaw--edit (encoding edits)
  "Make EDITS, whose columns are counted in ENCODING, one step for undo."
  (save-restriction
    (widen)
    ;; Before the group is prepared: what lies between that and its end is one step.
    (undo-boundary)
    (let* ((places (seq-map-indexed
                    (lambda (edit index)
                      (let ((range (plist-get edit :range)))
                        (list (codelaw--point encoding (plist-get range :start)) index
                              (codelaw--point encoding (plist-get range :end))
                              (replace-regexp-in-string "\r\n?" "\n" (plist-get edit :newText)))))
                    edits))
           (group (prepare-change-group)))
      (activate-change-group group)
      (pcase-dolist (`(,begin ,_ ,end ,text)
                     (sort places (lambda (one other)
                                    (if (= (car one) (car other)) (> (cadr one) (cadr other)) (> (car one) (car other))))))
        (replace-region-contents begin end (lambda () text) 1))
      (undo-amalgamate-change-group group)
      (accept-change-group group)
      (undo-boundary)
      ;; What is typed next is another step.
      (setq undo-auto--last-boundary-cause 0))))

(cl-defmethod eglot-handle-request :around
  ((server codelaw-server) (_method (eql workspace/applyEdit)) &rest params)
  "Take edits without asking: the user was asked about the call that makes them."
  (let* ((inhibit-interaction t) ; a prompt would take keys that are meant for a buffer
         (changes (append (plist-get (plist-get params :edit) :documentChanges) nil))
         (ours (mapcar (lambda (change) (codelaw--buffer-of server (plist-get (plist-get change :textDocument) :uri)))
                       changes)))
    (if (or (null changes) (memq nil ours))
        (cl-progv '(eglot-confirm-server-initiated-edits eglot-confirm-server-edits) (list nil nil)
          (cl-call-next-method))
      (cl-mapc (lambda (change buffer)
                 (with-current-buffer buffer
                   (when-let ((why (codelaw--obstacle (plist-get (plist-get change :textDocument) :version))))
                     (jsonrpc-error "%s: %s" (buffer-name) why))))
               changes ours)
      (cl-mapc (lambda (change buffer)
                 (with-current-buffer buffer
                   (codelaw--edit (codelaw--encoding server) (plist-get change :edits))
                   (codelaw--tell)))
               changes ours)
      '(:applied t))))

(cl-defmethod eglot-handle-request
  ((server codelaw-server) (_method (eql codelaw/editor/save)) &key uris &allow-other-keys)
  "Save the documents URIS before a command runs, as far as nothing must be asked."
  (seq-doseq (uri uris)
    (when-let ((buffer (or (codelaw--buffer-of server uri) (find-buffer-visiting (eglot--uri-to-path uri)))))
      (with-current-buffer buffer
        (when (and (buffer-modified-p) (verify-visited-file-modtime))
          (condition-case problem
              (let ((inhibit-interaction t) (save-silently t)) (save-buffer))
            (error (message "codelaw: %s was not saved: %s" (buffer-name) (error-message-string problem))))))))
  (make-hash-table))

(defun codelaw--reload ()
  "Read again what changed on the disk under buffers without changes of their own.
Else the server, which reads open buffers, would go on with the old text."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and (or codelaw--document (and (eglot-managed-p) (codelaw-server-p (eglot-current-server))))
                 (not (buffer-modified-p))
                 (not (verify-visited-file-modtime))
                 (file-exists-p buffer-file-name))
        (let ((inhibit-interaction t) (inhibit-message t)) (revert-buffer t t t))))))

;;;; The buffer

(defvar codelaw-view-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'codelaw)
    (define-key map (kbd "C-c C-a") #'codelaw-answer)
    (define-key map (kbd "C-c C-k") #'codelaw-cancel)
    (define-key map (kbd "C-c C-n") #'codelaw-new)
    (define-key map (kbd "C-c C-o") #'codelaw-chats)
    map)
  "Keys of the buffer *codelaw*.")

(define-derived-mode codelaw-view-mode special-mode "codelaw"
  "What was said in a chat.
\\{codelaw-view-mode-map}"
  (setq-local window-point-insertion-type t)
  (visual-line-mode 1))

(defvar codelaw--part nil "What the end of the buffer belongs to.")

(defun codelaw--buffer ()
  "The buffer of the shown chat."
  (or (get-buffer "*codelaw*")
      (with-current-buffer (get-buffer-create "*codelaw*")
        (codelaw-view-mode)
        (current-buffer))))

(defun codelaw--append (part text &rest properties)
  "Append TEXT with PROPERTIES.
What is not of the same PART as the text before it begins on a line of its own."
  (with-current-buffer (codelaw--buffer)
    (let ((follow (eobp)) (inhibit-read-only t))
      (save-excursion
        (goto-char (point-max))
        (unless (or (equal part codelaw--part) (bobp))
          (insert (if (bolp) "\n" "\n\n")))
        (setq codelaw--part part)
        (insert (apply #'propertize (codelaw--legible text) properties)))
      (when follow (goto-char (point-max))))))

(defun codelaw--place (property value)
  "Where the last text with VALUE as its PROPERTY begins and ends, or nil."
  (let ((end (point-max)) found)
    (while (and (not found) (> end (point-min)))
      (let ((begin (previous-single-property-change end property nil (point-min))))
        (when (equal (get-text-property begin property) value) (setq found (cons begin end)))
        (setq end begin)))
    found))

(defun codelaw--put (id text)
  "Show TEXT as the one block with ID: in its old place, or at the end."
  (with-current-buffer (codelaw--buffer)
    (let ((place (codelaw--place 'codelaw-block id)) (inhibit-read-only t))
      (if (not place)
          (codelaw--append id text 'codelaw-block id)
        (save-excursion
          (goto-char (car place))
          (delete-region (car place) (cdr place))
          (insert (propertize text 'codelaw-block id)))))))

(defun codelaw--notice (text)
  "Show TEXT as a line of our own."
  (codelaw--append 'notice (concat (if (eq codelaw--part 'notice) "\n" "")
                                   "> " (replace-regexp-in-string "\\s-*\n\\s-*" " " text))
                   'face 'font-lock-comment-face))

(defun codelaw--withdraw (step)
  "Take back what was streamed of STEP, which is asked again."
  (with-current-buffer (codelaw--buffer)
    (let ((inhibit-read-only t) place)
      (while (setq place (codelaw--place 'codelaw-step step))
        (delete-region (car place) (cdr place))))))

(defun codelaw--show (event)
  "Show EVENT."
  (cl-destructuring-bind
      (&key kind text delta step callId title status summary level message report result state &allow-other-keys) event
    (pcase kind
      ("turn_started"
       (setq codelaw--running t)
       (with-current-buffer (codelaw--buffer)
         (let ((inhibit-read-only t)) ; steps are counted anew in every turn
           (remove-text-properties (point-min) (point-max) '(codelaw-step nil))))
       (codelaw--append 'question (concat "## " text) 'face 'bold))
      ("thought" (codelaw--append (cons kind step) delta 'codelaw-step step 'face 'shadow))
      ("answer" (codelaw--append (cons kind step) delta 'codelaw-step step))
      ("retry" (codelaw--withdraw step))
      ("steer"
       (pcase state
         ("waiting" (codelaw--notice (concat "Waits: " text)))
         ("withdrawn" (codelaw--notice (concat "Withdrawn: " text)))
         ("returned" (codelaw--notice (concat "Not sent, send it again: " text)))
         (_ (codelaw--append 'steer (concat "## " text) 'face 'bold))))
      ("tool_call"
       (codelaw--put callId (replace-regexp-in-string
                             "\\s-*\n\\s-*" " "
                             (format "- %s (%s)%s" title status (if summary (concat ": " summary) "")))))
      ("notice" (unless (equal level "info") (codelaw--notice message)))
      ("compaction"
       (let ((word (plist-get report :message)))
         (unless (member word '(nil "")) (codelaw--notice word))))
      ("turn_ended"
       (setq codelaw--running nil)
       (unless (equal (plist-get result :stopReason) "finished")
         (let ((problem (plist-get result :error)))
           (codelaw--notice (if problem
                                (format "%s: %s %s" (plist-get result :stopReason)
                                        (plist-get problem :message) (plist-get problem :hint))
                              (plist-get result :stopReason)))))
       (setq codelaw--part 'end))))
  (run-hook-with-args 'codelaw-event-functions event))

;;;; Events

(cl-defmethod eglot-handle-notification
  ((server codelaw-server) (_method (eql codelaw/chat/event)) &key chatId seq event &allow-other-keys)
  "Show EVENT, the one numbered SEQ of the chat CHATID."
  (when (or (equal (plist-get event :kind) "turn_ended") (member (plist-get event :status) '("completed" "failed")))
    (codelaw--reload))
  (when (and (equal (plist-get event :kind) "turn_started")
             (not (equal chatId codelaw--chat))
             (if codelaw--running (null codelaw--chat)
               (not (or (eq codelaw--file-chats t) (member chatId codelaw--file-chats)))))
    ;; The first answer of a new chat tells its id; a code action may begin another chat.
    (setq codelaw--server server)
    (codelaw--open chatId (= seq 1)))
  (when (equal chatId codelaw--chat)
    (cond (codelaw--waiting (setq codelaw--waiting (cons (cons seq event) (if (consp codelaw--waiting) codelaw--waiting))))
          ((> seq (1+ codelaw--seq)) (codelaw--read))
          (t (codelaw--take seq event)))
    (when (and codelaw--stopping codelaw--running) (codelaw-cancel))))

(defun codelaw--take (seq event)
  "Show EVENT unless SEQ says that it is shown."
  (when (> seq codelaw--seq)
    (setq codelaw--seq seq)
    (codelaw--show event)))

(defun codelaw--read ()
  "Show what was missed of the shown chat."
  (unless codelaw--waiting
    (setq codelaw--waiting t)
    (let ((chat codelaw--chat))
      (codelaw--request
       :codelaw/chat/read (list :chatId chat :sinceSeq codelaw--seq)
       (lambda (result)
         (when (equal chat codelaw--chat)
           (let ((later (and (consp codelaw--waiting) (reverse codelaw--waiting))))
             (setq codelaw--waiting nil)
             (seq-doseq (each (plist-get result :events))
               (codelaw--take (plist-get each :seq) (plist-get each :event)))
             (setq codelaw--running (and (plist-get result :running) t))
             (pcase-dolist (`(,seq . ,event) later) (codelaw--take seq event)))))
       (lambda () (setq codelaw--waiting nil))))))

(defun codelaw--open (chat &optional new)
  "Show CHAT from its beginning; a NEW one has nothing that must be read."
  (unless (and new (null codelaw--chat)) (codelaw--clear))
  (setq codelaw--chat chat codelaw--seq 0 codelaw--waiting nil)
  (unless new (codelaw--read)))

(defun codelaw--clear ()
  "Empty the buffer, for another chat."
  (setq codelaw--chat nil codelaw--seq 0 codelaw--running nil codelaw--stopping nil codelaw--part nil)
  (with-current-buffer (codelaw--buffer)
    (let ((inhibit-read-only t)) (erase-buffer))))

;;;; Questions to the user

;; A question is shown in a buffer of its own, whose window is not selected: what is typed goes on to where it was meant.

(cl-defstruct (codelaw--question (:constructor codelaw--question) (:copier nil))
  "What the SERVER's request ID asks; ANSWER makes its result of an option and a reason."
  server id title preview diff options answer reasons beside seen buffer)

(defvar-local codelaw--shown nil "The question that this buffer shows, or nil when it was withdrawn.")

(defvar codelaw-question-mode-map
  (let ((map (make-sparse-keymap)))
    (dotimes (place 9)
      (define-key map (number-to-string (1+ place)) #'codelaw-question-choose))
    (define-key map (kbd "RET") #'codelaw-question-answer)
    (define-key map "q" #'codelaw-question-leave)
    map)
  "Keys of a question.")

(define-derived-mode codelaw-question-mode special-mode "codelaw asks"
  "A question to you.
\\{codelaw-question-mode-map}"
  (visual-line-mode 1)
  (add-hook 'window-selection-change-functions #'codelaw--entered nil t))

(defvar-local codelaw--entered nil "Whether what was typed before this question was selected is dropped.")

(defun codelaw--entered (window)
  "Drop what was typed before WINDOW, which shows a question, was selected."
  (with-current-buffer (window-buffer window)
    (let ((selected (eq window (selected-window))))
      (unless (or codelaw--entered (not selected)) (discard-input))
      (setq codelaw--entered selected))))

(defconst codelaw--steering
  (rx (any (#x00 . #x08) (#x0b . #x1f) (#x7f . #x9f) #xad #x61c #x115f #x1160 #x17b4 #x17b5 (#x180b . #x180f)
           #x200b #x200e #x200f (#x2028 . #x202e) (#x2060 . #x206f) #x3164 #xfeff #xffa0 (#xfff0 . #xfffb)
           (#xe0000 . #xe0fff)))
  "Characters that hide something, or change the order in which a line is read.")

(defconst codelaw--blank
  (rx (any #xa0 #x34f #x1680 (#x2000 . #x200a) #x200c #x200d #x202f #x205f #x2800 #x3000 (#xfe00 . #xfe0f)))
  "Characters that look like a space or like nothing; ordinary text has them too.")

(defun codelaw--code (found)
  "The character FOUND as its code."
  (format "⟨U+%04X⟩" (aref found 0)))

(defun codelaw--legible (text)
  "TEXT of the model's with the characters that steer made visible."
  (replace-regexp-in-string codelaw--steering #'codelaw--code text t t))

(defun codelaw--visible (text)
  "TEXT with everything that is not seen made visible."
  (replace-regexp-in-string codelaw--blank #'codelaw--code (codelaw--legible text) t t))

(defconst codelaw--longest-lines 40 "What has more is looked at in a buffer of its own before it can be allowed.")
(defconst codelaw--longest 4000 "The same, in characters.")
(defconst codelaw--show '(:title "Show all of it") "The option that shows what is long.")

(defun codelaw--long-p (question)
  "Whether what QUESTION asks for is too long for its window."
  (let ((text (or (codelaw--question-preview question) "")))
    (or (> (length text) codelaw--longest)
        (> (length (split-string text "\n")) codelaw--longest-lines))))

(defun codelaw--offered (question)
  "The options of QUESTION that can be chosen now."
  (if (or (codelaw--question-seen question) (not (codelaw--long-p question)))
      (codelaw--question-options question)
    (cons codelaw--show (seq-filter (lambda (option) (equal (plist-get option :kind) "reject"))
                                    (codelaw--question-options question)))))

(defun codelaw--head (text question)
  "So much of TEXT as the window of QUESTION has room for."
  (if (not (codelaw--long-p question)) text
    (let ((lines (split-string text "\n")))
      (format "%s\n… %d lines, %d characters: %s"
              (truncate-string-to-width (string-join (seq-take lines (/ codelaw--longest-lines 4)) "\n") 1000)
              (length lines) (length text)
              (if (codelaw--question-seen question) "all of it is in *codelaw asks for*"
                "look at all of it before you allow it")))))

(defun codelaw--show-whole (question)
  "Show all that QUESTION asks for in a buffer of its own; then it can be allowed."
  (with-current-buffer (get-buffer-create "*codelaw asks for*")
    (special-mode)
    (visual-line-mode 1)
    (let ((inhibit-read-only t) (text (codelaw--visible (codelaw--question-preview question))))
      (erase-buffer)
      (insert (if (codelaw--question-diff question) (codelaw--diff text) text))
      (goto-char (point-min))))
  (setf (codelaw--question-seen question) t)
  (let ((buffer (codelaw--question-buffer question)))
    (setf (codelaw--question-buffer question) nil)
    (quit-windows-on buffer t))
  (select-window (display-buffer "*codelaw asks for*"))
  (codelaw--show-question))

(defun codelaw--receive (receive server message)
  "Let RECEIVE take the MESSAGE of SERVER, but for a question to the user.
Its answer goes out when there is one.  Other messages must be read until
then, so that a prompt within RECEIVE would not do; and a prompt would take
the keys that are typed into another buffer."
  (let ((question (and (codelaw-server-p server) (plist-get message :id)
                       (codelaw--question-of server (plist-get message :method) (plist-get message :params)))))
    (if (not question) (funcall receive server message)
      (setf (codelaw--question-id question) (plist-get message :id))
      (codelaw--ask question))))

(advice-add 'jsonrpc-connection-receive :around #'codelaw--receive)

(defun codelaw--question-of (server method params)
  "What METHOD of SERVER asks the user with PARAMS, or nil."
  (pcase method
    ("codelaw/approval/request"
     (let* ((preview (plist-get params :preview)) (diff (plist-get preview :diff))
            (words (plist-get params :description)))
       (codelaw--question :server server :title (plist-get params :title)
                          :preview (or diff (plist-get preview :command) (plist-get preview :text)) :diff diff
                          :beside (delq nil (list (and words (format "The model's words for it: “%s”" words))
                                                  (and (eq (plist-get params :alwaysAsked) t)
                                                       (format "This is asked every time. %s"
                                                               (or (plist-get params :why) "")))))
                          :options (append (plist-get params :options) nil) :reasons t
                          :answer (lambda (option why)
                                    `(:optionId ,(plist-get option :id)
                                      ,@(unless (string-empty-p why) (list :comment why)))))))
    ("window/showMessageRequest"
     (when-let ((options (append (plist-get params :actions) nil))
                (lines (split-string (plist-get params :message) "\n")))
       (codelaw--question :server server :title (car lines)
                          :preview (and (cdr lines) (string-trim (string-join (cdr lines) "\n")))
                          :options options :answer (lambda (option _) option))))))

(defun codelaw--question-text (question)
  "The text of QUESTION; its options carry themselves as a property."
  (let* ((number 0)
         (title (codelaw--visible (codelaw--question-title question)))
         (preview (codelaw--visible (codelaw--head (or (codelaw--question-preview question) "") question))))
    (concat (propertize title 'face 'bold) "\n\n"
            (unless (member preview (list "" title))
              (concat (if (codelaw--question-diff question) (codelaw--diff preview) preview) "\n\n"))
            (mapconcat (lambda (line) (concat (codelaw--visible (string-replace "\n" " " line)) "\n\n"))
                       (codelaw--question-beside question) "")
            (mapconcat
             (lambda (option)
               (let ((title (plist-get option :title)) (rule (plist-get option :rule)))
                 (propertize (codelaw--visible
                              (format "  %d  %s%s" (cl-incf number) title
                                      (if (and rule (not (string-search rule title))) (concat "\n     " rule) "")))
                             'codelaw-option option)))
             (codelaw--offered question) "\n"))))

(defun codelaw--ask (question)
  "Ask the user QUESTION."
  (setq codelaw--asked (append codelaw--asked (list question)))
  (codelaw--put (cons 'asked (codelaw--question-id question)) (concat "? " (codelaw--question-text question)))
  (codelaw--show-question)
  (let ((title (codelaw--visible (codelaw--question-title question))))
    (message "codelaw asks: %s (M-x codelaw-answer)" (truncate-string-to-width title 60 nil nil t))))

(defun codelaw--show-question ()
  "Show the oldest open question without selecting its window; gives the window."
  (when-let ((question (car codelaw--asked)))
    (unless (buffer-live-p (codelaw--question-buffer question))
      (with-current-buffer (setf (codelaw--question-buffer question) (generate-new-buffer "*codelaw asks*"))
        (codelaw-question-mode)
        (setq codelaw--shown question)
        (let ((inhibit-read-only t))
          (insert (codelaw--question-text question) "\n\n"
                  (propertize "M-x codelaw-answer goes here; a digit chooses, RET answers; q goes back" 'face 'shadow)))
        (goto-char (point-min))))
    (display-buffer (codelaw--question-buffer question)
                    '((display-buffer-reuse-window display-buffer-in-side-window)
                      (side . bottom) (inhibit-same-window . t)
                      (window-height . fit-window-to-buffer)))))

(defun codelaw--diff (diff)
  "DIFF with its colours."
  (mapconcat (lambda (line)
               (propertize line 'face (pcase (and (> (length line) 0) (aref line 0))
                                        (?+ 'diff-added) (?- 'diff-removed) (?@ 'diff-hunk-header))))
             (split-string diff "\n") "\n"))

(defun codelaw--close (question words)
  "Put WORDS in the place of QUESTION."
  (setq codelaw--asked (delq question codelaw--asked))
  (codelaw--put (cons 'asked (codelaw--question-id question))
                (format "? %s: %s" (codelaw--visible (codelaw--question-title question)) words))
  (let ((buffer (codelaw--question-buffer question)))
    (when (buffer-live-p buffer)
      (if (and (eq buffer (window-buffer (selected-window))) (equal words "withdrawn"))
          ;; The keys that are on their way to this window must not reach the one behind it.
          (with-current-buffer buffer
            (setq codelaw--shown nil)
            (let ((inhibit-read-only t))
              (erase-buffer)
              (insert "The question was withdrawn.  q closes this window.")))
        (quit-windows-on buffer t))))
  (codelaw--show-question))

(cl-defmethod eglot-handle-notification
  ((server codelaw-server) (_method (eql $/cancelRequest)) &key id &allow-other-keys)
  "Withdraw the question with ID."
  (dolist (question codelaw--asked)
    (when (and (eq (codelaw--question-server question) server) (equal (codelaw--question-id question) id))
      (codelaw--close question "withdrawn")
      (jsonrpc-connection-send server :id id :error '(:code -32800 :message "withdrawn")))))

(defun codelaw-answer ()
  "Go to the oldest open question.
There a digit chooses an answer, RET gives it, and q goes back.  A no may
have a reason, which the model is told."
  (interactive)
  (dolist (question codelaw--asked)
    (unless (jsonrpc-running-p (codelaw--question-server question)) (codelaw--close question "withdrawn")))
  (unless codelaw--asked (user-error "Nothing is asked"))
  (select-window (codelaw--show-question))
  (discard-input)
  (setq codelaw--entered t))

(defun codelaw-question-choose ()
  "Choose the answer whose number was pressed."
  (interactive)
  (let ((option (nth (- last-command-event ?1) (and codelaw--shown (codelaw--offered codelaw--shown)))))
    (unless option (user-error "There is no such answer"))
    (goto-char (point-min))
    (text-property-search-forward 'codelaw-option option #'eq)
    (forward-line 0)))

(defun codelaw-question-answer ()
  "Give the answer in this line."
  (interactive)
  (let* ((question (or codelaw--shown (user-error "The question was withdrawn")))
         (option (or (get-text-property (point) 'codelaw-option) (user-error "Choose an answer first, by its digit"))))
    (if (eq option codelaw--show) (codelaw--show-whole question)
      (codelaw--give question option))))

(defun codelaw--give (question option)
  "Answer QUESTION with OPTION."
  (let* ((why (if (and (codelaw--question-reasons question) (equal (plist-get option :kind) "reject"))
                  (read-string "Why (may be empty): ")
                "")))
    (unless (memq question codelaw--asked) (user-error "The question was withdrawn"))
    (jsonrpc-connection-send (codelaw--question-server question) :id (codelaw--question-id question)
                             :result (funcall (codelaw--question-answer question) option why))
    (codelaw--close question (concat (plist-get option :title) (if (string-empty-p why) "" (concat " (" why ")"))))))

(defun codelaw-question-leave ()
  "Go back; an open question stays."
  (interactive)
  (if codelaw--shown (select-window (get-mru-window nil nil t))
    (quit-window t)))

;;;; Commands

(defun codelaw--uri (path)
  "The address of the file PATH."
  (if (fboundp 'eglot-path-to-uri) (eglot-path-to-uri path) (eglot--path-to-uri path)))

(defun codelaw--here ()
  "What goes along with a question: this file, the line, the region's lines."
  (when buffer-file-name
    (let ((uri (codelaw--uri buffer-file-name)))
      (append
       (list :editor (list :uri uri :line (1- (line-number-at-pos nil t))))
       (when (use-region-p)
         (list :attachments
               (vector (list :uri uri
                             :range (list :start (list :line (1- (line-number-at-pos (region-beginning) t)) :character 0)
                                          :end (list :line (line-number-at-pos (1- (region-end)) t)
                                                     :character 0))))))))))

;;;###autoload
(defun codelaw (text)
  "Send TEXT: a turn of the shown chat, or while one runs a word to it.
The lines of an active region go along.  A chat belongs to the project in
which it was begun."
  (interactive (list (read-string (if codelaw--running "To the running turn: " "Ask codelaw: "))))
  (when (string-blank-p text) (user-error "Nothing was said"))
  (let ((here (codelaw--here)))
    (display-buffer (codelaw--buffer))
    (cond ((not codelaw--running)
           (setq codelaw--running t codelaw--stopping nil)
           (condition-case problem
               (codelaw--request :codelaw/chat/send
                                 `(:text ,text ,@(and codelaw--chat (list :chatId codelaw--chat)) ,@here)
                                 nil (lambda () (setq codelaw--running nil)))
             ((error quit) (setq codelaw--running nil) (signal (car problem) (cdr problem)))))
          (codelaw--chat (codelaw--request :codelaw/chat/steer (list :chatId codelaw--chat :text text)))
          (t (user-error "The turn has not begun yet")))))

(defun codelaw-cancel ()
  "Cancel the running turn.  What was said is kept."
  (interactive)
  (cond ((not codelaw--running) (message "codelaw: nothing runs"))
        ((not codelaw--chat) (setq codelaw--stopping t))
        (t (setq codelaw--stopping nil)
           (codelaw--request :codelaw/chat/cancel (list :chatId codelaw--chat)))))

(defun codelaw-new ()
  "Begin a new chat, in the current project, with the next question."
  (interactive)
  (when codelaw--running (user-error "A turn runs; M-x codelaw-cancel ends it"))
  (codelaw--clear)
  (setq codelaw--server nil)
  (display-buffer (codelaw--buffer)))

(defun codelaw-chats ()
  "Go on with an older chat."
  (interactive)
  (when codelaw--running (user-error "A turn runs; M-x codelaw-cancel ends it"))
  (let* ((result (jsonrpc-request (codelaw--connection) :codelaw/chat/list '(:limit 100)))
         (chats (mapcar (lambda (chat)
                          (cons (format "%s  %s" (format-time-string "%F %R" (plist-get chat :updatedAt))
                                        (plist-get chat :title))
                                (plist-get chat :id)))
                        (plist-get result :chats)))
         (table (lambda (string predicate action) ; newest first, as they came
                  (if (eq action 'metadata) '(metadata (display-sort-function . identity))
                    (complete-with-action action chats string predicate)))))
    (codelaw--open (cdr (assoc (completing-read "Chat: " table nil t) chats)))
    (display-buffer (codelaw--buffer))))

(defun codelaw-permissions ()
  "Take back something that is allowed for good."
  (interactive)
  (let* ((connection (codelaw--connection))
         (grants (mapcar (lambda (grant)
                           (cons (codelaw--visible
                                  (format "%s  %s  %s" (plist-get grant :rule)
                                          (or (plist-get grant :problem) (plist-get grant :folder) "")
                                          (plist-get grant :id)))
                                 (plist-get grant :id)))
                         (plist-get (jsonrpc-request connection :codelaw/permission/list eglot--{}) :grants))))
    (if (null grants) (message "Nothing is allowed for good")
      (let ((chosen (completing-read "Take back: " grants nil t)))
        (jsonrpc-request connection :codelaw/permission/revoke (list :id (cdr (assoc chosen grants))))
        (message "Taken back: %s" chosen)))))

(defun codelaw-audit ()
  "Show what was decided, in the shown chat or in all, the newest first."
  (interactive)
  (let ((entries (plist-get (jsonrpc-request (codelaw--connection) :codelaw/permission/audit
                                             (append (list :limit 500)
                                                     (and codelaw--chat (list :chatId codelaw--chat))))
                            :entries)))
    (with-current-buffer (get-buffer-create "*codelaw decisions*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (if (zerop (length entries)) (insert "Nothing is on record.\n")
          (mapc (lambda (entry)
                  (insert (format-time-string "%F %T  " (plist-get entry :at))
                          (string-replace
                           "\n" "⏎"
                           (codelaw--visible
                            (format "%s by %s%s: %s %s" (plist-get entry :decision) (plist-get entry :by)
                                    (if (plist-get entry :rule) (format " (%s)" (plist-get entry :rule)) "")
                                    (plist-get entry :tool)
                                    (or (plist-get entry :detail) (plist-get entry :title)))))
                          "\n"))
                entries)))
      (goto-char (point-min))
      (special-mode)
      (display-buffer (current-buffer)))))

;;;; Chat files

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

(add-to-list 'auto-mode-alist '("\\.chat\\.md\\'" . codelaw-chat-mode))
(add-to-list 'eglot-server-programs (cons (cons 'codelaw-chat-mode codelaw-modes) #'codelaw--contact))
(add-hook 'codelaw-chat-mode-hook #'eglot-ensure)

(defun codelaw--run (command)
  "Run a COMMAND of the server on this chat file; gives its result."
  (let ((server (eglot-current-server)))
    (unless (and server buffer-file-name)
      (user-error "This is no file that codelaw serves; M-x eglot starts the server"))
    (eglot--signal-textDocument/didChange)
    (jsonrpc-request server :workspace/executeCommand
                     (list :command command :arguments (vector (list :uri (codelaw--uri buffer-file-name)))))))

(defun codelaw-send ()
  "Send the question at the end of this chat file."
  (interactive)
  (let ((others (if (listp codelaw--file-chats) codelaw--file-chats)) chat)
    (setq codelaw--file-chats t)
    (unwind-protect (setq chat (plist-get (codelaw--run "codelaw.chatFile.send") :chatId))
      (setq codelaw--file-chats (if chat (cons chat others) others)))))

(defun codelaw-stop ()
  "Stop what runs in this chat file."
  (interactive)
  (codelaw--run "codelaw.chatFile.stop"))

(defun codelaw-undo ()
  "Undo what the last turn of this chat file did to files."
  (interactive)
  (codelaw--run "codelaw.chatFile.undo"))

(provide 'codelaw)

;;; codelaw.el ends here
