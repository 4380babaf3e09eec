;;; codelaw.el --- codelaw through eglot  -*- lexical-binding: t -*-

;; Package-Requires: ((emacs "28.1") (eglot "1.9"))

;;; Commentary:

;; M-x codelaw asks a question, with the region if there is one; the answer streams into the buffer *codelaw*.  While a
;; turn runs, M-x codelaw is a word to that turn.  What needs your approval is shown there: answer with the keys 1, 2, …
;; in that buffer, or with M-x codelaw-answer from anywhere.
;;
;; Files whose names end with .chat.md are chats too: write a question below the last "## You", then M-x codelaw-send.
;;
;; eglot runs one server for a buffer, so this file leaves the servers of your languages alone.  To have codelaw's code
;; actions in other buffers, and let it see their unsaved text, name their modes in `codelaw-modes' before you load it.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'eglot)

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
(defvar codelaw--asked nil "Open questions: lists of a connection, a request's id and its params.")
(defvar codelaw--file-chats nil "Ids of chats that are shown in chat files; t while one is sent.")

(cl-defmethod eglot-client-capabilities :around ((_server codelaw-server))
  "Say that this client takes events and answers questions."
  (let ((nothing (make-hash-table)))
    (plist-put (cl-call-next-method) :experimental `(:codelaw (:events ,nothing :approvals ,nothing)))))

(cl-defmethod eglot-initialization-options ((_server codelaw-server))
  "The settings."
  (or codelaw-settings (make-hash-table)))

(cl-defmethod eglot-handle-request :around
  ((_server codelaw-server) (_method (eql workspace/applyEdit)) &rest _)
  "Take edits without asking: the user was asked about the call that makes them."
  (cl-progv '(eglot-confirm-server-initiated-edits eglot-confirm-server-edits) (list nil nil)
    (cl-call-next-method)))

(defun codelaw--contact (&rest _)
  "How eglot reaches the server."
  (cons 'codelaw-server codelaw-command))

(defun codelaw--connection ()
  "The connection for the shown chat, or a new one for the current project."
  (unless (and codelaw--server (jsonrpc-running-p codelaw--server))
    (setq codelaw--server
          (or (seq-find #'codelaw-server-p (gethash (eglot--current-project) eglot--servers-by-project))
              (with-temp-buffer
                (setq buffer-file-name (expand-file-name "new.chat.md"))
                (delay-mode-hooks (codelaw-chat-mode))
                (unwind-protect (let ((eglot-sync-connect t)) (apply #'eglot (eglot--guess-contact)))
                  (setq buffer-file-name nil)))
              (user-error "The server did not start; M-x eglot-stderr-buffer shows why"))))
  codelaw--server)

(defun codelaw--request (method params &optional done failed)
  "Send METHOD with PARAMS; DONE gets the result.
FAILED is called after a problem was told."
  (let ((server (codelaw--connection)))
    (dolist (buffer (seq-filter #'buffer-live-p (eglot--managed-buffers server)))
      (with-current-buffer buffer (eglot--signal-textDocument/didChange)))
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
  (when (and (codelaw-server-p server) codelaw--server (not (jsonrpc-running-p codelaw--server)))
    (setq codelaw--server server)
    (when codelaw--chat (codelaw--read))))

(add-hook 'eglot-connect-hook #'codelaw--connected)

;;;; The buffer

(defvar codelaw-view-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'codelaw)
    (define-key map (kbd "C-c C-k") #'codelaw-cancel)
    (define-key map (kbd "C-c C-n") #'codelaw-new)
    (define-key map (kbd "C-c C-o") #'codelaw-chats)
    (dotimes (place 9)
      (define-key map (number-to-string (1+ place)) #'codelaw-answer))
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
        (insert (apply #'propertize text properties)))
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
      (&key kind text delta step callId title status summary level message report result &allow-other-keys) event
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
      ("steer" (codelaw--append 'steer (concat "## " text) 'face 'bold))
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

(defun codelaw--receive (receive server message)
  "Let RECEIVE take the MESSAGE of SERVER, but for a question to the user.
Its answer goes out when there is one.  Other messages must be read until
then, so that a prompt within RECEIVE would not do."
  (if (and (codelaw-server-p server) (equal (plist-get message :method) "codelaw/approval/request"))
      (codelaw--ask (list server (plist-get message :id) (plist-get message :params)))
    (funcall receive server message)))

(advice-add 'jsonrpc-connection-receive :around #'codelaw--receive)

(defun codelaw--ask (asked)
  "Show what is ASKED."
  (pcase-let* ((`(,_ ,id ,(map :title :preview :options)) asked)
               (diff (plist-get preview :diff))
               (number 0))
    (setq codelaw--asked (append codelaw--asked (list asked)))
    (codelaw--put (cons 'asked id)
                  (concat "? " (propertize title 'face 'bold) "\n\n"
                          (if diff (codelaw--diff diff) (or (plist-get preview :command) ""))
                          "\n\n"
                          (mapconcat (lambda (option) (format "  %d  %s" (cl-incf number) (plist-get option :title)))
                                     options "\n")))
    (display-buffer (codelaw--buffer))
    (message "codelaw asks: %s (M-x codelaw-answer)" title)))

(defun codelaw--diff (diff)
  "DIFF with its colours."
  (mapconcat (lambda (line)
               (propertize line 'face (pcase (and (> (length line) 0) (aref line 0))
                                        (?+ 'diff-added) (?- 'diff-removed) (?@ 'diff-hunk-header))))
             (split-string diff "\n") "\n"))

(defun codelaw--close (asked words)
  "Put WORDS in the place of what was ASKED."
  (setq codelaw--asked (delq asked codelaw--asked))
  (codelaw--put (cons 'asked (nth 1 asked)) (format "? %s: %s" (plist-get (nth 2 asked) :title) words)))

(cl-defmethod eglot-handle-notification
  ((server codelaw-server) (_method (eql $/cancelRequest)) &key id &allow-other-keys)
  "Withdraw the question with ID."
  (dolist (asked codelaw--asked)
    (when (and (eq (car asked) server) (equal (nth 1 asked) id))
      (codelaw--close asked "withdrawn")
      (jsonrpc-connection-send server :id id :error '(:code -32800 :message "withdrawn")))))

(defun codelaw-answer ()
  "Answer the oldest open question.
The keys 1, 2, … of the buffer *codelaw* choose an option.  A no may have a
reason, which the model is told."
  (interactive)
  (setq codelaw--asked (seq-filter (lambda (asked) (jsonrpc-running-p (car asked))) codelaw--asked))
  (pcase-let* ((asked (or (car codelaw--asked) (user-error "Nothing is asked")))
               (`(,server ,id ,(map :title :options)) asked)
               (key (- (if (characterp last-command-event) last-command-event 0) ?1))
               (titles (mapcar (lambda (each) (plist-get each :title)) options))
               (chosen (if (and (eq major-mode 'codelaw-view-mode) (<= 0 key 8))
                           (or (nth key titles) (user-error "There are %d options" (length titles)))
                         (completing-read (format "%s: " title) titles nil t)))
               (option (elt options (or (seq-position titles chosen) (user-error "Nothing was chosen"))))
               (why (if (equal (plist-get option :kind) "reject") (read-string "Why (may be empty): ") "")))
    (unless (memq asked codelaw--asked) (user-error "The question was withdrawn"))
    (codelaw--close asked (concat chosen (if (string-empty-p why) "" (concat " (" why ")"))))
    (jsonrpc-connection-send server :id id
                             :result `(:optionId ,(plist-get option :id)
                                       ,@(unless (string-empty-p why) (list :comment why))))))

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
