-- codelaw in Neovim 0.7 or newer: one file, no dependencies.
--
-- Put it into a `lua/` folder of your runtime path and say `require("codelaw").setup()`, then `:Codelaw what is …`.
-- See ../README.md for the commands and options.

local M = {}

local state = {
  client = nil, -- id of the LSP client
  root = nil,
  buffer = nil, -- the scratch buffer that shows the chat
  chat = nil, -- id of the chat
  seq = 0, -- number of the last event that is shown
  waiting = nil, -- events that came while the chat is read
  running = false,
  turn = nil, -- id of the turn that began last
  stopping = false, -- cancel the turn as soon as its chat is known
  part = nil, -- what the last line of the buffer belongs to: "thought", "answer" or nil
  steps = {}, -- step -> extmark where its text begins, so that a retry can withdraw it
  calls = {}, -- callId -> extmark of its line
  connection = nil, -- what `connect` gave for the running server
  documents = {}, -- uri -> version of the document as the server knows it
  uris = {}, -- buffer -> the uri under which the server knows it
  saved = {}, -- buffer -> what its file on the disk was when the agent first changed the buffer
  questions = {}, -- open questions, oldest first; only the first one is shown
}

local options = {
  cmd = { "codelaw", "serve" },
  settings = {}, -- nested like codelaw's own settings: { model = { name = "…" } }
  open = "botright vsplit", -- how the chat's window is opened
  largest = 8 * 1024 * 1024, -- bytes; what is larger is read from the disk, without its unsaved changes
  on_event = nil, -- called with each event, after it was shown
}

local marks = vim.api.nvim_create_namespace("codelaw")

-- One line below the editor. A longer message would make Neovim wait for a key, and take one that is meant for a buffer.
local function say(text, level)
  text = "codelaw: " .. text:gsub("%s+", " ")
  local room = math.max(vim.v.echospace, 20) - 1
  if vim.fn.strdisplaywidth(text) > room then
    text = vim.fn.strcharpart(text, 0, room)
    while vim.fn.strdisplaywidth(text) > room - 1 do
      text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 1)
    end
    text = text .. "…"
  end
  vim.notify(text, level)
end

-- Forget what was typed before there was something to type it into.
local function flush()
  for _ = 1, 10000 do
    if vim.fn.getchar(0) == 0 then
      return
    end
  end
end

-- The connection ---------------------------------------------------------------------------------------------------

-- Functions by method, for requests of the server that are answered later: `ask(params, answer)` gives the function
-- that takes the question back. Neovim's own connection wants an answer at once, so that a question would have to stop
-- the editor until a key answers it.
local asked_later = {}

local NOT_FOUND, INTERNAL, CANCELLED = -32601, -32603, -32800

-- The server knows each document under one uri, from didOpen to didClose; Neovim forgets that buffers change names.
local function follow(method, document, send)
  if method == "textDocument/didOpen" then
    if state.documents[document.uri] then
      send({ method = "textDocument/didClose", params = { textDocument = { uri = document.uri } } })
    end
    state.documents[document.uri] = document.version
  elseif method == "textDocument/didChange" then
    state.documents[document.uri] = document.version
  elseif method == "textDocument/didClose" then
    if not state.documents[document.uri] then
      return false
    end
    state.documents[document.uri] = nil
  end
  return true
end

-- The messages in what a server writes, whatever pieces it comes in.
local function reader(take, broken)
  local pieces, have, need = {}, 0, 0
  return function(piece)
    pieces[#pieces + 1], have = piece, have + #piece
    while have > 0 and have >= need do
      local text = table.concat(pieces)
      local _, head = text:find("\r\n\r\n", 1, true)
      pieces, need = { text }, 0
      if not head then
        return
      end
      local length = tonumber(text:sub(1, head):lower():match("content%-length: *(%d+)"))
      if not length then
        return broken("a message without a length")
      end
      need = head + length
      if have >= need then
        take(text:sub(head + 1, need))
        pieces, have, need = { text:sub(need + 1) }, have - need, 0
      end
    end
  end
end

-- Start a server and give the connection to it, in the shape of Neovim's own ones (`vim.lsp.rpc`).
local function connect(command, arguments, dispatchers, place)
  local input, output, errors = vim.loop.new_pipe(false), vim.loop.new_pipe(false), vim.loop.new_pipe(false)
  local number, callbacks, replied, open = 0, {}, {}, {}
  local log = require("vim.lsp.log")
  local handle, pid

  local function is_closing()
    return handle == nil or handle:is_closing()
  end

  local function send(message)
    if is_closing() then
      return false
    end
    message.jsonrpc = "2.0"
    local body = vim.json.encode(message)
    input:write("Content-Length: " .. #body .. "\r\n\r\n" .. body)
    return true
  end

  local function fail(id, code, problem)
    send({ id = id, error = { code = code, message = tostring(problem) } })
  end

  local function on_request(message)
    local id, ask = message.id, asked_later[message.method]
    if ask then
      local fine, withdraw = pcall(ask, message.params, function(result)
        open[id] = nil
        send({ id = id, result = result })
      end)
      if not fine then
        return fail(id, INTERNAL, withdraw)
      end
      open[id] = withdraw
      return
    end
    coroutine.wrap(function()
      local fine, result, problem = pcall(dispatchers.server_request, message.method, message.params)
      if not fine then
        return fail(id, INTERNAL, result)
      elseif problem then
        return fail(id, problem.code or NOT_FOUND, problem.message or message.method)
      end
      send({ id = id, result = result == nil and vim.NIL or result })
    end)()
  end

  local function on_answer(message)
    local callback, done = callbacks[message.id], replied[message.id]
    callbacks[message.id], replied[message.id] = nil, nil
    if done then
      done(message.id)
    end
    -- As in Neovim's own connection: who cancels a request does not wait for it.
    if callback and not (message.error and message.error.code == CANCELLED) then
      callback(message.error, message.result)
    end
  end

  local function on_message(message)
    if message.method and message.id ~= nil then
      on_request(message)
    elseif message.method == "$/cancelRequest" and open[message.params.id] then
      local withdraw = open[message.params.id]
      open[message.params.id] = nil
      withdraw()
      fail(message.params.id, CANCELLED, "withdrawn")
    elseif message.method then
      dispatchers.notification(message.method, message.params)
    elseif message.id ~= nil then
      on_answer(message)
    end
  end

  local function broken(problem)
    log.error("codelaw", problem)
    if not is_closing() then
      handle:kill(15)
    end
  end

  handle, pid = vim.loop.spawn(command, {
    args = arguments,
    stdio = { input, output, errors },
    cwd = place and place.cwd,
  }, function(code, signal)
    for _, each in ipairs({ input, output, errors, handle }) do
      each:close()
    end
    dispatchers.on_exit(code, signal)
    vim.schedule(function()
      for _, withdraw in pairs(open) do
        withdraw()
      end
    end)
  end)
  if not handle then
    say(string.format("%s does not start: %s", command, pid), vim.log.levels.ERROR)
    return nil
  end
  local read = reader(function(body)
    local fine, message = pcall(vim.json.decode, body, { luanil = { object = true } })
    if not fine then
      return broken(message)
    end
    vim.schedule(function()
      on_message(message)
    end)
  end, broken)
  output:read_start(function(problem, piece)
    if piece then
      read(piece)
    elseif problem then
      broken(problem)
    end
  end)
  errors:read_start(function(_, piece)
    if piece then
      log.error("codelaw", "stderr", piece)
    end
  end)

  return {
    pid = pid,
    handle = handle,
    is_closing = is_closing,
    terminate = function()
      broken("terminated")
    end,
    notify = function(method, params)
      if params and params.textDocument and not follow(method, params.textDocument, send) then
        return true
      end
      return send({ method = method, params = params })
    end,
    request = function(method, params, callback, done)
      number = number + 1
      callbacks[number], replied[number] = callback, done
      if not send({ id = number, method = method, params = params }) then
        callbacks[number], replied[number] = nil, nil
        return false
      end
      return true, number
    end,
  }
end

-- `connect` for what `vim.lsp.start_client` is given; before 0.8 there was no place for it.
local function start_client(config)
  local function connected(...)
    state.connection, state.documents, state.uris, state.saved = connect(...), {}, {}, {}
    return state.connection
  end
  local command = config.cmd
  if vim.fn.has("nvim-0.8") == 1 then
    config.cmd = function(dispatchers)
      return connected(command[1], vim.list_slice(command, 2), dispatchers)
    end
    if vim.fn.has("nvim-0.11") == 1 then
      config.reuse_client = function()
        return false
      end
      return vim.lsp.start(config, { attach = false })
    end
    return vim.lsp.start_client(config)
  end
  local rpc = require("vim.lsp.rpc")
  local own = rpc.start
  rpc.start = connected
  local fine, id = pcall(vim.lsp.start_client, config)
  rpc.start = own
  return fine and id or not fine and error(id, 0) or nil
end

-- The buffer -------------------------------------------------------------------------------------------------------

local function buffer()
  if state.buffer == nil or not vim.api.nvim_buf_is_valid(state.buffer) then
    state.buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(state.buffer, "codelaw://chat/" .. state.buffer)
    vim.api.nvim_buf_set_option(state.buffer, "filetype", "markdown")
  end
  return state.buffer
end

-- Characters that hide something or change the order in which a line is read, made visible. In what the model says the
-- blanks of other scripts stay, and what joins letters and pictures; in what it asks for nothing does.
local STEERING = {
  "[%z\1-\8\11-\31\127]",
  "\194[\128-\159\173]",
  "\216\156",
  "\225\133[\159\160]",
  "\225\158[\180\181]",
  "\225\160[\139-\143]",
  "\226\128[\139\142\143\168-\174]",
  "\226\129[\160-\175]",
  "\227\133\164",
  "\239\187\191",
  "\239\190\160",
  "\239\191[\176-\187]",
  "\243\160[\128-\191][\128-\191]",
}
local BLANK = {
  "\194\160",
  "\205\143",
  "\225\154\128",
  "\226\128[\128-\138\140\141\175]",
  "\226\129\159",
  "\226\160\128",
  "\227\128\128",
  "\239\184[\128-\143]",
}
local function code(found)
  local bytes = { found:byte(1, -1) }
  local number = #bytes == 1 and bytes[1] or bytes[1] % 2 ^ (7 - #bytes)
  for place = 2, #bytes do
    number = number * 64 + bytes[place] % 64
  end
  return string.format("⟨U+%04X⟩", number)
end
local function legible(text)
  for _, pattern in ipairs(STEERING) do
    text = text:gsub(pattern, code)
  end
  return text
end
local function visible(text)
  text = legible(text)
  for _, pattern in ipairs(BLANK) do
    text = text:gsub(pattern, code)
  end
  return text
end

local function last_position()
  local row = vim.api.nvim_buf_line_count(buffer()) - 1
  return row, #vim.api.nvim_buf_get_lines(buffer(), row, row + 1, true)[1]
end

local function append(text)
  local row, column = last_position()
  vim.api.nvim_buf_set_text(buffer(), row, column, row, column, vim.split(legible(text), "\n", { plain = true }))
  for _, window in ipairs(vim.fn.win_findbuf(buffer())) do
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(buffer()), 0 })
  end
end

local function mark_end()
  local row, column = last_position()
  return vim.api.nvim_buf_set_extmark(buffer(), marks, row, column, { right_gravity = false })
end

-- Begin a new part on a line of its own; deltas of the same part go on where the last one ended.
local function part(name)
  if state.part ~= name then
    local _, column = last_position()
    append(column > 0 and "\n\n" or "")
    state.part = name
  end
end

local function show_delta(event)
  if state.steps[event.step] == nil then
    part(nil)
    state.steps[event.step] = mark_end()
  end
  part(event.kind)
  append(event.delta)
end

-- What the file of a buffer is now, to see later whether somebody else has written it.
local function on_disk(number)
  local file = vim.loop.fs_stat(vim.api.nvim_buf_get_name(number))
  return file and string.format("%d.%d %d", file.mtime.sec, file.mtime.nsec, file.size) or "none"
end

-- Load a buffer without changes again if its file has changed. Neovim's own question, which a key would answer, is not
-- put; the buffers with changes are left to it.
local function load_again(number)
  if vim.api.nvim_buf_get_option(number, "modified") then
    return
  end
  local choice = vim.api.nvim_create_autocmd("FileChangedShell", {
    pattern = "*",
    callback = function()
      vim.v.fcs_choice = vim.v.fcs_reason == "deleted" and "" or "reload"
    end,
  })
  pcall(vim.cmd, "silent! checktime " .. number)
  vim.api.nvim_del_autocmd(choice)
end

-- Load again what changed on the disk under buffers without changes of their own: else the server, which reads open
-- buffers, would go on with the old text.
local function reload()
  for number in pairs(state.uris) do
    if vim.api.nvim_buf_is_loaded(number) then
      load_again(number)
    end
  end
end

local function show_call(event)
  local line = string.format("- %s (%s)%s", event.title, event.status, event.summary and ": " .. event.summary or "")
  line = legible(line:gsub("%s+", " "))
  if state.calls[event.callId] == nil then
    part("call " .. event.callId)
    state.calls[event.callId] = mark_end()
    append(line)
  else
    local row = vim.api.nvim_buf_get_extmark_by_id(buffer(), marks, state.calls[event.callId], {})[1]
    vim.api.nvim_buf_set_lines(buffer(), row, row + 1, true, { line })
  end
  if event.status == "completed" or event.status == "failed" then
    reload()
  end
end

local function withdraw(event)
  local mark = state.steps[event.step]
  if mark ~= nil then
    local at = vim.api.nvim_buf_get_extmark_by_id(buffer(), marks, mark, {})
    local row, column = last_position()
    vim.api.nvim_buf_set_text(buffer(), at[1], at[2], row, column, { "" })
    state.steps[event.step] = nil
    state.part = nil
  end
end

local shown = {
  turn_started = function(event, turn)
    state.steps, state.calls, state.running, state.turn = {}, {}, true, turn
    part("question")
    append("## " .. event.text:gsub("\n", "\n## "))
  end,
  thought = show_delta,
  answer = show_delta,
  tool_call = show_call,
  retry = withdraw,
  steer = function(event)
    local words = { waiting = "> waits: ", withdrawn = "> withdrawn: ", returned = "> not sent, send it again: " }
    local mark = words[event.state] or "## "
    part("steer " .. (event.id or "") .. (event.state or "") .. event.text)
    append(mark .. event.text:gsub("\n", "\n" .. (mark == "## " and mark or "> ")))
  end,
  notice = function(event)
    part("notice " .. event.code)
    append("> " .. event.message:gsub("\n", " "))
  end,
  turn_ended = function(event)
    state.running = false
    reload()
    if event.result.stopReason ~= "finished" then
      local problem = event.result.error
      part("end")
      append("> " .. event.result.stopReason .. (problem and problem ~= vim.NIL and ": " .. problem.message or ""))
    end
    state.part = nil
  end,
}

-- Questions to the user --------------------------------------------------------------------------------------------

-- A question is shown in a window that never takes the cursor by itself: what is typed goes on to where it was meant.
-- Who wants to answer goes there (:CodelawAnswer), chooses by a digit, and confirms by Enter.

local HELP = ":CodelawAnswer goes here · a digit chooses, Enter answers · q goes back, and the question stays"

local function lines_of(text)
  return vim.split(visible(text), "\n", { plain = true })
end

-- Where the window goes: away from the cursor, and as high as its text, within limits.
local function place_of(question, entered)
  local width, height = math.max(20, math.min(vim.o.columns - 4, 100)), 0
  for _, line in ipairs(vim.api.nvim_buf_get_lines(question.buffer, 0, -1, true)) do
    height = height + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  local room = math.max(1, vim.o.lines - vim.o.cmdheight - 4)
  height = math.min(height, entered and room or math.max(1, math.floor(room * 0.6)))
  local low = entered or vim.fn.win_screenpos(0)[1] + vim.fn.winline() > vim.o.lines / 2
  return {
    relative = "editor",
    width = width,
    height = height,
    col = math.max(0, vim.o.columns - width - 2),
    row = low and 0 or math.max(0, vim.o.lines - vim.o.cmdheight - height - 3),
  }
end

local show_question

-- Take a question away: it was answered, or withdrawn.
local function close_question(question, words)
  for index, each in ipairs(state.questions) do
    if each == question then
      table.remove(state.questions, index)
      part("asked " .. tostring(question))
      append("> " .. visible(question.title):gsub("%s+", " ") .. ": " .. words)
      state.part = nil
    end
  end
  local buffer_of_it = question.buffer
  question.buffer, question.closed = nil, true
  if buffer_of_it and vim.api.nvim_buf_is_valid(buffer_of_it) then
    if vim.api.nvim_get_current_buf() == buffer_of_it and words == "withdrawn" then
      -- The keys that are on their way to this window must not reach the one behind it.
      vim.api.nvim_buf_set_option(buffer_of_it, "modifiable", true)
      vim.api.nvim_buf_set_lines(buffer_of_it, 0, -1, true, { "The question was withdrawn. q closes this window." })
      vim.api.nvim_buf_set_option(buffer_of_it, "modifiable", false)
    else
      vim.api.nvim_buf_delete(buffer_of_it, { force = true })
    end
  end
  show_question()
end

-- What is this long is looked at in a buffer of its own before it can be allowed.
local LONGEST_LINES, LONGEST = 40, 4000

local SHOW = { title = "Show all of it" }

-- The options that can be chosen now.
local function offered(question)
  if not question.long or question.seen then
    return question.options
  end
  local options = { SHOW }
  for _, option in ipairs(question.options) do
    if option.kind == "reject" then
      table.insert(options, option)
    end
  end
  return options
end

local function show_whole(question)
  local shown, before = vim.api.nvim_create_buf(false, true), question.buffer
  vim.api.nvim_buf_set_lines(shown, 0, -1, true, lines_of(question.preview))
  vim.api.nvim_buf_set_option(shown, "modifiable", false)
  vim.api.nvim_buf_set_option(shown, "bufhidden", "wipe")
  question.seen, question.buffer = true, nil
  vim.api.nvim_buf_delete(before, { force = true })
  vim.cmd("botright split")
  vim.api.nvim_win_set_buf(0, shown)
  vim.api.nvim_win_set_option(0, "wrap", true)
  show_question()
end

local function choose(question)
  local option = not question.closed and question.options_at[vim.api.nvim_win_get_cursor(0)[1]]
  if not option then
    return say(question.closed and "the question was withdrawn" or "choose an answer first, by its digit")
  end
  if option == SHOW then
    return show_whole(question)
  end
  local function give(why)
    if not question.closed then
      local reason = why ~= "" and why or nil
      question.answer(option, reason)
      close_question(question, option.title .. (reason and " (" .. reason .. ")" or ""))
    end
  end
  if question.reasons and option.kind == "reject" then
    vim.ui.input({ prompt = "Why (may be empty): " }, give)
  else
    give(nil)
  end
end

local function draw(question)
  local buf = vim.api.nvim_create_buf(false, true)
  question.buffer, question.options_at = buf, {}
  local lines = lines_of(question.title)
  vim.list_extend(lines, { HELP, "" })
  local first = #lines
  if question.preview and question.preview ~= question.title then
    local preview = lines_of(question.preview)
    question.long = #preview > LONGEST_LINES or #question.preview > LONGEST
    if question.long then
      local word = question.seen and "all of it is in the window of its own" or "look at all of it before you allow it"
      local head = #question.preview > LONGEST and math.min(#preview, 1) or LONGEST_LINES / 4
      local size = string.format("… %d lines, %d bytes: %s", #preview, #question.preview, word)
      preview = vim.list_slice(preview, 1, head)
      for number, line in ipairs(preview) do
        preview[number] = vim.fn.strcharpart(line, 0, 300)
      end
      table.insert(preview, size)
    end
    vim.list_extend(lines, preview)
    lines[#lines + 1] = ""
  end
  for _, word in ipairs(question.beside or {}) do
    vim.list_extend(lines, { (visible(word):gsub("\n", " ")), "" })
  end
  local last, rows = #lines, {}
  for index, option in ipairs(offered(question)) do
    rows[index] = #lines + 1
    local title = visible(option.title):gsub("\n", " ")
    lines[#lines + 1] = string.format("%d  %s", index, title)
    question.options_at[#lines] = option
    if option.rule and not option.title:find(option.rule, 1, true) then
      lines[#lines + 1] = "   " .. visible(option.rule):gsub("\n", " ")
      question.options_at[#lines] = option
    end
  end
  vim.api.nvim_buf_set_lines(buf, 0, -1, true, lines)
  vim.api.nvim_buf_set_option(buf, "modifiable", false)
  vim.api.nvim_buf_set_option(buf, "filetype", "codelaw-question")
  vim.api.nvim_buf_add_highlight(buf, marks, "Title", 0, 0, -1)
  vim.api.nvim_buf_add_highlight(buf, marks, "Comment", #lines_of(question.title), 0, -1)
  local colours = { ["+"] = "DiffAdd", ["-"] = "DiffDelete", ["@"] = "DiffChange" }
  for row = first, question.is_diff and last - 1 or first - 1 do
    local colour = colours[(lines[row + 1] or ""):sub(1, 1)]
    if colour then
      vim.api.nvim_buf_add_highlight(buf, marks, colour, row, 0, -1)
    end
  end

  local function key(name, action)
    vim.keymap.set("n", name, action, { buffer = buf, nowait = true, silent = true })
  end
  for index, row in ipairs(rows) do
    key(tostring(index), function()
      if not question.closed then
        vim.api.nvim_win_set_cursor(0, { row, 0 })
      end
    end)
  end
  key("<CR>", function()
    choose(question)
  end)
  key("q", function()
    if question.closed then
      vim.api.nvim_buf_delete(buf, { force = true })
    else
      vim.cmd("wincmd p")
    end
  end)
  vim.api.nvim_create_autocmd("WinEnter", {
    buffer = buf,
    callback = function()
      flush()
      vim.cmd("stopinsert")
      if not question.closed then
        vim.api.nvim_win_set_config(0, place_of(question, true))
      end
    end,
  })
end

local function window_of(question)
  local windows = question.buffer and vim.fn.win_findbuf(question.buffer) or {}
  for _, window in ipairs(windows) do
    if vim.api.nvim_win_get_tabpage(window) == vim.api.nvim_get_current_tabpage() then
      return window
    end
  end
end

--- Show the oldest open question, without going to it; gives its window.
show_question = function()
  local question = state.questions[1]
  if not question then
    return
  end
  local window = window_of(question)
  if window then
    return window
  end
  if vim.fn.getcmdwintype() ~= "" then -- where no window may be opened
    vim.api.nvim_create_autocmd("CmdwinLeave", {
      once = true,
      callback = function()
        vim.schedule(show_question)
      end,
    })
    return
  end
  if not (question.buffer and vim.api.nvim_buf_is_valid(question.buffer)) then
    draw(question)
  end
  local config = place_of(question, false)
  config.style, config.border, config.noautocmd = "minimal", "rounded", true
  window = vim.api.nvim_open_win(question.buffer, false, config)
  vim.api.nvim_win_set_option(window, "wrap", true)
  vim.api.nvim_win_set_option(window, "cursorline", true)
  return window
end

-- Ask the user: `{title, preview, is_diff, options: [{title, kind, rule}], reasons, answer(option, why)}`. Gives the
-- function that takes the question back.
local function ask(question)
  table.insert(state.questions, question)
  show_question()
  say("asks: " .. visible(question.title) .. " (:CodelawAnswer)")
  return function()
    close_question(question, "withdrawn")
  end
end

--- Go to the oldest open question.
function M.answer()
  local window = show_question()
  if not window then
    return say("nothing is asked")
  end
  vim.api.nvim_set_current_win(window)
end

-- What a call would do is shown in full, and stays in the chat.
asked_later["codelaw/approval/request"] = function(params, answer)
  local diff, command, beside = params.preview.diff, params.preview.command or params.preview.text, {}
  if diff or command then
    part("preview " .. params.callId)
    append((diff and "```diff\n" or "```sh\n") .. visible(diff or command) .. "\n```")
  end
  if params.description then
    table.insert(beside, "The model's words for it: “" .. params.description .. "”")
  end
  if params.alwaysAsked then
    table.insert(beside, "This is asked every time. " .. (params.why or ""))
  end
  return ask({
    title = params.title,
    preview = diff or command,
    is_diff = diff ~= nil,
    beside = beside,
    options = params.options,
    reasons = true,
    answer = function(option, why)
      answer({ optionId = option.id, comment = why })
    end,
  })
end

-- Neovim's own list for these would take the next keys, whatever buffer they are meant for.
asked_later["window/showMessageRequest"] = function(params, answer)
  local title, rest = params.message:match("^([^\n]*)\n+(.*)$")
  if not params.actions or #params.actions == 0 then
    say(params.message)
    answer(vim.NIL)
    return function() end
  end
  return ask({
    title = title or params.message,
    preview = rest,
    options = params.actions,
    answer = function(option)
      answer(option)
    end,
  })
end

-- Documents --------------------------------------------------------------------------------------------------------

local function client()
  return state.client and vim.lsp.get_client_by_id(state.client)
end

local function within(path, folder)
  folder = folder:gsub("/+$", "") .. "/"
  return path:sub(1, #folder) == folder
end

-- Whether a path is in the workspace, as it is written or behind links; the file need not exist yet.
local function in_workspace(path)
  if within(path, state.root) then
    return true
  end
  local real, rest = vim.loop.fs_realpath(path), ""
  local folder = path
  while not real and folder ~= vim.fn.fnamemodify(folder, ":h") do
    rest = "/" .. vim.fn.fnamemodify(folder, ":t") .. rest
    folder = vim.fn.fnamemodify(folder, ":h")
    real = vim.loop.fs_realpath(folder)
  end
  return within((real or folder) .. rest, vim.loop.fs_realpath(state.root) or state.root)
end

-- A file of the workspace in a buffer of its own: no terminal, help, directory or address of a plugin.
local function is_document(number)
  if not vim.api.nvim_buf_is_loaded(number) or vim.api.nvim_buf_get_option(number, "buftype") ~= "" then
    return false
  end
  local name = vim.api.nvim_buf_get_name(number)
  if name == "" or name:find("^%a[%w+.-]+://") or vim.fn.isdirectory(name) == 1 or not in_workspace(name) then
    return false
  end
  local size = vim.api.nvim_buf_get_offset(number, vim.api.nvim_buf_line_count(number))
  if size > options.largest then
    say(vim.fn.fnamemodify(name, ":t") .. " is too large to be shared: its unsaved changes are not seen")
    return false
  end
  return true
end

--- Let the server see a buffer's text, and change it there: every file of the workspace that is open.
function M.attach(number)
  if client() and not state.uris[number] and is_document(number) then
    state.uris[number] = vim.uri_from_bufnr(number)
    vim.lsp.buf_attach_client(number, state.client)
  end
end

-- A buffer with another name is another document.
local function renamed(number)
  local old, new = state.uris[number], vim.uri_from_bufnr(number)
  if not client() or not old then
    return M.attach(number)
  elseif old ~= new then
    local text = table.concat(vim.api.nvim_buf_get_lines(number, 0, -1, true), "\n")
    state.uris[number] = new
    state.connection.notify("textDocument/didClose", { textDocument = { uri = old } })
    state.connection.notify("textDocument/didOpen", {
      textDocument = {
        uri = new,
        version = vim.api.nvim_buf_get_changedtick(number),
        languageId = vim.api.nvim_buf_get_option(number, "filetype"),
        text = text .. (vim.api.nvim_buf_get_option(number, "eol") and "\n" or ""),
      },
    })
  end
end

local function unloaded(number)
  local uri = state.uris[number]
  state.uris[number], state.saved[number] = nil, nil
  if uri and state.connection then
    vim.schedule(function() -- after Neovim has closed it under its first name, or loaded it again
      if state.uris[number] ~= uri then
        state.connection.notify("textDocument/didClose", { textDocument = { uri = uri } })
      end
    end)
  end
end

local function buffer_with(uri)
  for number, each in pairs(state.uris) do
    if each == uri and vim.api.nvim_buf_is_loaded(number) then
      return number
    end
  end
end

-- Why a buffer cannot be changed now, or nil.
local function obstacle(number, version, uri)
  if not number then
    return "it is not open"
  elseif not vim.api.nvim_buf_get_option(number, "modifiable") then
    return "its buffer cannot be modified"
  elseif vim.api.nvim_buf_get_option(number, "readonly") then
    return "its buffer is read-only"
  elseif version and version ~= state.documents[uri] then
    return "it has changed meanwhile"
  end
end

-- What follows is a step of its own for undo.
local function new_undo_step(number)
  vim.api.nvim_buf_set_option(number, "undolevels", vim.api.nvim_buf_get_option(number, "undolevels"))
end

local function on_apply_edit(_, params)
  local edit, made = params.edit, {}
  for uri, edits in pairs(edit.documentChanges and {} or edit.changes or {}) do
    made[#made + 1] = { textDocument = { uri = uri }, edits = edits }
  end
  vim.list_extend(made, edit.documentChanges or {})
  for _, change in ipairs(made) do
    local document = change.textDocument
    local number = document and buffer_with(document.uri)
    if number then
      load_again(number)
    end
    local why = not document and "only texts are changed" or obstacle(number, document.version, document.uri)
    if why then
      return { applied = false, failureReason = (document and document.uri .. ": " or "") .. why }
    end
  end
  for _, change in ipairs(made) do
    local number = buffer_with(change.textDocument.uri)
    if not vim.api.nvim_buf_get_option(number, "modified") then
      state.saved[number] = on_disk(number)
    end
    new_undo_step(number)
    vim.lsp.util.apply_text_edits(change.edits, number, client().offset_encoding)
    new_undo_step(number)
  end
  return { applied = true }
end

-- Before a command runs: save what the agent has changed, unless somebody else has written the file meanwhile; Neovim
-- would ask then, and a key would answer.
local function on_save(_, params)
  for _, uri in ipairs(params.uris) do
    local number = buffer_with(uri)
    if number and vim.api.nvim_buf_get_option(number, "modified") then
      if state.saved[number] ~= on_disk(number) then
        say(vim.uri_to_fname(uri) .. " was not saved: it has changed on the disk", vim.log.levels.WARN)
      else
        local fine, problem = pcall(vim.api.nvim_buf_call, number, function()
          vim.cmd("silent write")
        end)
        if not fine then
          say(vim.uri_to_fname(uri) .. " was not saved: " .. problem, vim.log.levels.WARN)
        end
      end
    end
  end
  return vim.empty_dict()
end

-- The server's side ------------------------------------------------------------------------------------------------

local function take(params)
  if params.seq > state.seq then
    state.seq = params.seq
    local show = shown[params.event.kind]
    if show then
      show(params.event, params.turnId)
    end
    if options.on_event then
      options.on_event(params)
    end
  end
end

local function on_event(_, params)
  -- One buffer shows one chat; the first event of a new chat tells its id.
  state.chat = state.chat or params.chatId
  if params.chatId ~= state.chat then
    return
  end
  if state.waiting then
    table.insert(state.waiting, params)
  else
    take(params)
  end
  if state.stopping and state.running then
    M.cancel()
  end
end

local function request(method, params, callback)
  local handler = function(problem, result)
    if problem then
      say(problem.message or vim.inspect(problem), vim.log.levels.ERROR)
    end
    if callback then
      callback(problem, result)
    end
  end
  if vim.fn.has("nvim-0.11") == 1 then
    return client():request(method, params, handler, buffer())
  end
  return client().request(method, params, handler, buffer())
end

-- Show what is not shown of the chat: all of it, or what was missed while there was no server.
local function read()
  local chat = state.chat
  state.waiting = state.waiting or {}
  request("codelaw/chat/read", { chatId = chat, sinceSeq = state.seq }, function(problem, result)
    if chat ~= state.chat then
      return
    end
    local later = state.waiting or {}
    state.waiting = nil
    if problem then
      return
    end
    vim.tbl_map(take, result.events)
    state.running = result.running ~= nil and result.running ~= vim.NIL
    vim.tbl_map(take, later)
  end)
end

local function forget()
  state.chat, state.buffer, state.part, state.seq, state.waiting = nil, nil, nil, 0, nil
end

--- Start the server for a folder (the current one by default), unless it runs; gives the client's id.
function M.start(root)
  if client() and not state.connection.is_closing() then
    return state.client
  end
  root = root or state.root or vim.fn.getcwd()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = {
    codelaw = {
      events = vim.empty_dict(),
      approvals = vim.empty_dict(),
      editor = { save = vim.empty_dict() },
    },
  }
  -- Changes of open files are made in their buffers, pinned to what they show. Neovim forgets to say that it can.
  capabilities.workspace.workspaceEdit.documentChanges = true
  if state.chat and root ~= state.root then
    forget()
  end
  state.root, state.running, state.stopping = root, false, false
  state.client = start_client({
    name = "codelaw",
    cmd = options.cmd,
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = vim.fn.fnamemodify(root, ":t") } },
    capabilities = capabilities,
    init_options = next(options.settings) and options.settings or vim.empty_dict(),
    handlers = {
      ["codelaw/chat/event"] = on_event,
      ["codelaw/editor/save"] = on_save,
      ["workspace/applyEdit"] = on_apply_edit,
    },
    -- The server must not change a text that is no longer there.
    flags = { debounce_text_changes = 0 },
    on_exit = function(code, signal, id)
      vim.schedule(function()
        if id == state.client then
          state.running, state.waiting, state.client = false, nil, nil
          if code ~= 0 or signal ~= 0 then
            part("the end")
            append("> The server ended; the next message starts another one, and the chat goes on.")
            say("the server ended; the next message starts another one", vim.log.levels.WARN)
          end
        end
      end)
    end,
  })
  if not state.client then
    error("codelaw: the server did not start; is " .. options.cmd[1] .. " on your PATH?", 0)
  end
  vim.wait(30000, function()
    return state.connection.is_closing() or (client() ~= nil and client().initialized)
  end, 10)
  if not (client() and client().initialized) or state.connection.is_closing() then
    error("codelaw: the server did not start; :lua vim.cmd('edit ' .. vim.lsp.get_log_path()) shows why", 0)
  end
  -- The server sees what is open, unsaved changes included.
  for _, open in ipairs(vim.api.nvim_list_bufs()) do
    M.attach(open)
  end
  if state.chat then
    read()
  end
  return state.client
end

-- What the user looks at: the file of this window, or of the one before it, and the line.
local function looked_at()
  for _, window in ipairs({ 0, vim.fn.win_getid(vim.fn.winnr("#")) }) do
    local number = vim.api.nvim_win_is_valid(window) and vim.api.nvim_win_get_buf(window)
    if number and state.uris[number] then
      return { uri = state.uris[number], line = vim.api.nvim_win_get_cursor(window)[1] - 1 }
    end
  end
end

--- Send a message: a turn, or while one runs a word to it. `callback(problem, result)` is called at the end.
--- `attachments` are `{uri, range}` of documents that go along with a turn.
function M.send(text, callback, attachments)
  M.start()
  if state.running then
    if not state.chat then
      return say("the turn has not begun yet", vim.log.levels.WARN)
    end
    return request("codelaw/chat/steer", { chatId = state.chat, text = text }, callback)
  end
  state.running, state.stopping = true, false
  local message = { chatId = state.chat, text = text, editor = looked_at(), attachments = attachments }
  return request("codelaw/chat/send", message, function(problem, result)
    -- What was sent while the answer came may have begun the next turn already.
    if not result or result.turnId == state.turn then
      state.running = false
    end
    if callback then
      callback(problem, result)
    end
  end)
end

--- Cancel the running turn. What was said is kept, and `send`'s callback still gets the result.
function M.cancel(callback)
  state.stopping = state.running and not state.chat
  if state.running and state.chat then
    request("codelaw/chat/cancel", { chatId = state.chat }, callback)
  end
end

--- Begin a new chat with the next message; not while a turn runs.
function M.new()
  if state.running then
    return say("a turn runs; :CodelawCancel ends it", vim.log.levels.WARN)
  end
  forget()
end

--- Show an older chat and go on with it.
function M.resume(chat)
  M.start()
  M.new()
  if not state.running then
    state.chat = chat
    M.open()
    read()
  end
end

--- Choose among the newest chats.
function M.chats()
  M.start()
  request("codelaw/chat/list", { limit = 100 }, function(problem, result)
    if problem then
      return
    end
    flush()
    vim.ui.select(result.chats, {
      prompt = "Chat",
      kind = "codelaw",
      format_item = function(chat)
        return os.date("%Y-%m-%d %H:%M  ", math.floor(chat.updatedAt)) .. chat.title
      end,
    }, function(chat)
      if chat then
        M.resume(chat.id)
      end
    end)
  end)
end

--- What is allowed for good; the chosen one is taken back.
function M.permissions()
  M.start()
  request("codelaw/permission/list", vim.empty_dict(), function(problem, result)
    if problem then
      return
    end
    if #result.grants == 0 then
      return say("nothing is allowed for good")
    end
    vim.ui.select(result.grants, {
      prompt = "Take back",
      kind = "codelaw",
      format_item = function(grant)
        return visible(grant.rule .. "  " .. (grant.problem or (grant.folder and "in " .. grant.folder) or ""))
      end,
    }, function(grant)
      if grant then
        request("codelaw/permission/revoke", { id = grant.id }, function(refused)
          if not refused then
            say("taken back: " .. visible(grant.rule))
          end
        end)
      end
    end)
  end)
end

--- Show what was decided, of the shown chat or of all, the newest first.
function M.audit()
  M.start()
  request("codelaw/permission/audit", { chatId = state.chat, limit = 500 }, function(problem, result)
    if problem then
      return
    end
    local lines = {}
    for _, entry in ipairs(result.entries) do
      local rule = entry.rule and " (" .. entry.rule .. ")" or ""
      local line = table.concat({
        os.date("%Y-%m-%d %H:%M:%S ", math.floor(entry.at)),
        entry.decision .. " by " .. entry.by .. rule .. ": ",
        entry.tool .. " " .. (entry.detail or entry.title),
      })
      table.insert(lines, (visible(line):gsub("\n", "⏎")))
    end
    local number = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_lines(number, 0, -1, false, #lines > 0 and lines or { "Nothing is on record." })
    vim.bo[number].modifiable = false
    vim.bo[number].bufhidden = "wipe"
    vim.cmd(options.open)
    vim.api.nvim_win_set_buf(0, number)
  end)
end

--- Show the chat's window and give its buffer.
function M.open()
  if #vim.fn.win_findbuf(buffer()) == 0 then
    vim.cmd(options.open)
    vim.api.nvim_win_set_buf(0, buffer())
    vim.cmd("wincmd p")
  end
  return buffer()
end

--- The commands :Codelaw {text}, :CodelawAnswer, :CodelawCancel, :CodelawNew, :CodelawChats, :CodelawPermissions and
--- :CodelawAudit.
function M.setup(given)
  options = vim.tbl_deep_extend("force", options, given or {})
  local function command(name, action, more)
    vim.api.nvim_create_user_command(name, action, more)
  end
  command("Codelaw", function(given_command)
    local number, attachments = vim.api.nvim_get_current_buf(), nil
    M.start()
    if given_command.range > 0 and state.uris[number] then
      attachments = {
        {
          uri = state.uris[number],
          range = {
            start = { line = given_command.line1 - 1, character = 0 },
            ["end"] = { line = given_command.line2, character = 0 },
          },
        },
      }
    end
    M.open()
    M.send(given_command.args, nil, attachments)
  end, { nargs = "+", range = true, desc = "Send a message to codelaw, with the lines of the range" })
  command("CodelawAnswer", M.answer, { desc = "Go to what codelaw asks" })
  command("CodelawCancel", function()
    M.cancel()
  end, { desc = "Cancel codelaw's turn" })
  command("CodelawNew", M.new, { desc = "Begin a new chat" })
  command("CodelawChats", M.chats, { desc = "Go on with an older chat" })
  command("CodelawPermissions", M.permissions, { desc = "Take back what is allowed for good" })
  command("CodelawAudit", M.audit, { desc = "Show what was decided" })

  local group = vim.api.nvim_create_augroup("codelaw", { clear = true })
  local function on(events, action)
    vim.api.nvim_create_autocmd(events, {
      group = group,
      callback = function(event)
        action(event.buf)
      end,
    })
  end
  on({ "BufReadPost", "BufNewFile", "BufEnter" }, M.attach)
  on({ "BufFilePost", "BufWritePost" }, renamed)
  on("BufUnload", unloaded)
  on({ "BufReadPost", "BufWritePost" }, function(number)
    if state.saved[number] then
      state.saved[number] = on_disk(number)
    end
  end)
end

return M
