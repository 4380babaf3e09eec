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
  stopping = false, -- cancel the turn as soon as its chat is known
  part = nil, -- what the last line of the buffer belongs to: "thought", "answer" or nil
  steps = {}, -- step -> extmark where its text begins, so that a retry can withdraw it
  calls = {}, -- callId -> extmark of its line
}

local options = {
  cmd = { "codelaw", "serve" },
  settings = {}, -- nested like codelaw's own settings: { model = { name = "…" } }
  open = "botright vsplit", -- how the chat's window is opened
  on_event = nil, -- called with each event, after it was shown
}

local marks = vim.api.nvim_create_namespace("codelaw")

-- The buffer -------------------------------------------------------------------------------------------------------

local function buffer()
  if state.buffer == nil or not vim.api.nvim_buf_is_valid(state.buffer) then
    state.buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(state.buffer, "codelaw://chat/" .. state.buffer)
    vim.api.nvim_buf_set_option(state.buffer, "filetype", "markdown")
  end
  return state.buffer
end

local function last_position()
  local row = vim.api.nvim_buf_line_count(buffer()) - 1
  return row, #vim.api.nvim_buf_get_lines(buffer(), row, row + 1, true)[1]
end

local function append(text)
  local row, column = last_position()
  vim.api.nvim_buf_set_text(buffer(), row, column, row, column, vim.split(text, "\n", { plain = true }))
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

-- Load again what changed on the disk under buffers without changes of their own: else the server, which reads open
-- buffers, would go on with the old text.
local function reload()
  vim.cmd("silent! checktime")
end

local function show_call(event)
  local line = string.format("- %s (%s)%s", event.title, event.status, event.summary and ": " .. event.summary or "")
  line = line:gsub("%s+", " ")
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
  turn_started = function(event)
    state.steps, state.calls, state.running = {}, {}, true
    part("question")
    append("## " .. event.text:gsub("\n", "\n## "))
  end,
  thought = show_delta,
  answer = show_delta,
  tool_call = show_call,
  retry = withdraw,
  steer = function(event)
    part("steer " .. event.text)
    append("## " .. event.text:gsub("\n", "\n## "))
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

-- The server's side ------------------------------------------------------------------------------------------------

local function take(params)
  if params.seq > state.seq then
    state.seq = params.seq
    local show = shown[params.event.kind]
    if show then
      show(params.event)
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

-- Wait for `ask(callback)`, also where the interface answers later than it returns.
local function answer_of(ask)
  local given, answered = nil, false
  local thread, main = coroutine.running()
  local waiting = false
  ask(function(value)
    given, answered = value, true
    if waiting then
      coroutine.resume(thread)
    end
  end)
  if not answered then
    if thread and not main then
      waiting = true
      coroutine.yield()
    else
      vim.wait(24 * 60 * 60 * 1000, function()
        return answered
      end, 50)
    end
  end
  return given
end

local function on_approval(_, params)
  local preview = params.preview.command or params.preview.diff
  if preview and preview ~= vim.NIL then
    part("preview " .. params.callId)
    append((params.preview.diff == preview and "```diff\n" or "```sh\n") .. preview .. "\n```")
    vim.cmd("redraw")
  end
  local option = answer_of(function(callback)
    vim.ui.select(params.options, {
      prompt = params.title,
      kind = "codelaw",
      format_item = function(item)
        return item.title
      end,
    }, callback)
  end)
  if not option then
    return { cancelled = true }
  end
  local why
  if option.kind == "reject" then
    why = answer_of(function(callback)
      vim.ui.input({ prompt = "Why (may be empty): " }, callback)
    end)
  end
  return { optionId = option.id, comment = why ~= "" and why or nil }
end

local function client()
  return state.client and vim.lsp.get_client_by_id(state.client)
end

local function request(method, params, callback)
  local handler = function(problem, result)
    if problem then
      vim.notify("codelaw: " .. (problem.message or vim.inspect(problem)), vim.log.levels.ERROR)
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
  if client() and not client().is_stopped() then
    return state.client
  end
  root = root or state.root or vim.fn.getcwd()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = { codelaw = { events = vim.empty_dict(), approvals = vim.empty_dict() } }
  if state.chat and root ~= state.root then
    forget()
  end
  state.root, state.running, state.stopping = root, false, false
  state.client = vim.lsp.start_client({
    name = "codelaw",
    cmd = options.cmd,
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = vim.fn.fnamemodify(root, ":t") } },
    capabilities = capabilities,
    init_options = next(options.settings) and options.settings or vim.empty_dict(),
    handlers = { ["codelaw/chat/event"] = on_event, ["codelaw/approval/request"] = on_approval },
    on_exit = function(code, _, id)
      vim.schedule(function()
        if id == state.client then
          state.running, state.waiting, state.client = false, nil, nil
          if code ~= 0 then
            vim.notify("codelaw: the server ended; the next message starts another one", vim.log.levels.WARN)
          end
        end
      end)
    end,
  })
  local ready = vim.wait(30000, function()
    return client() ~= nil and client().initialized
  end, 10)
  if not ready then
    error("codelaw: the server did not start; see :lua vim.cmd.edit(vim.lsp.get_log_path())")
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

--- Let the server see a buffer's text.
function M.attach(number)
  local file = vim.api.nvim_buf_is_loaded(number) and vim.api.nvim_buf_get_option(number, "buftype") == ""
  if client() and file and vim.api.nvim_buf_get_name(number) ~= "" then
    vim.lsp.buf_attach_client(number, state.client)
  end
end

--- Send a message: a turn, or while one runs a word to it. `callback(problem, result)` is called at the end.
function M.send(text, callback)
  M.start()
  if state.running then
    if not state.chat then
      return vim.notify("codelaw: the turn has not begun yet", vim.log.levels.WARN)
    end
    return request("codelaw/chat/steer", { chatId = state.chat, text = text }, callback)
  end
  state.running, state.stopping = true, false
  return request("codelaw/chat/send", { chatId = state.chat, text = text }, function(problem, result)
    state.running = false
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
    return vim.notify("codelaw: a turn runs; :CodelawCancel ends it", vim.log.levels.WARN)
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

--- Show the chat's window and give its buffer.
function M.open()
  if #vim.fn.win_findbuf(buffer()) == 0 then
    vim.cmd(options.open)
    vim.api.nvim_win_set_buf(0, buffer())
    vim.cmd("wincmd p")
  end
  return buffer()
end

--- The commands :Codelaw {text}, :CodelawCancel, :CodelawNew and :CodelawChats.
function M.setup(given)
  options = vim.tbl_deep_extend("force", options, given or {})
  vim.api.nvim_create_user_command("Codelaw", function(command)
    M.open()
    M.send(command.args)
  end, { nargs = "+", desc = "Send a message to codelaw" })
  vim.api.nvim_create_user_command("CodelawCancel", function()
    M.cancel()
  end, { desc = "Cancel codelaw's turn" })
  vim.api.nvim_create_user_command("CodelawNew", function()
    M.new()
  end, { desc = "Begin a new chat" })
  vim.api.nvim_create_user_command("CodelawChats", function()
    M.chats()
  end, { desc = "Go on with an older chat" })
  vim.api.nvim_create_autocmd("BufReadPost", {
    group = vim.api.nvim_create_augroup("codelaw", { clear = true }),
    callback = function(event)
      M.attach(event.buf)
    end,
  })
end

return M
