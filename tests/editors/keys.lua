-- Types into a second Neovim, which talks with codelaw through the recipe, as a person does: through its keys.
-- Writes one JSON line per observation to $DRIVE_OUT; $DRIVE_SCENE says which scene is played.

local out = assert(io.open(os.getenv("DRIVE_OUT"), "w"))
local function tell(name, value)
  out:write(vim.fn.json_encode({ name = name, value = value }), "\n")
  out:flush()
end

local inner = vim.fn.jobstart({ "nvim", "--embed", "--headless", "-u", "NONE", "-i", "NONE", "-n" }, { rpc = true })

local function mode()
  return vim.rpcrequest(inner, "nvim_get_mode")
end

local function lua(code, ...)
  assert(not mode().blocking, "Neovim waits for a key")
  return vim.rpcrequest(inner, "nvim_exec_lua", code, { ... })
end

-- Press keys, and wait until they had their effect.
local function press(keys)
  vim.rpcrequest(inner, "nvim_input", keys)
  vim.wait(30)
  vim.wait(150000, function()
    return mode().blocking or lua("return vim.fn.getchar(1)") == 0
  end, 10)
end

local function until_(what, code)
  local function holds()
    return lua("return " .. code)
  end
  if not vim.wait(150000, holds, 20) then
    error("never: " .. what .. "\n" .. lua("return Shown()"))
  end
end

local function start()
  vim.rpcrequest(inner, "nvim_exec_lua", [[
    local recipe, command, settings = ...
    vim.o.hidden = true
    Codelaw = dofile(recipe)
    Codelaw.setup({ cmd = vim.fn.json_decode(command), settings = vim.fn.json_decode(settings) })
    function Shown()
      return table.concat(vim.api.nvim_buf_get_lines(Codelaw.open(), 0, -1, true), "\n")
    end
    function Question()
      for _, window in ipairs(vim.api.nvim_list_wins()) do
        local buffer = vim.api.nvim_win_get_buf(window)
        if vim.api.nvim_buf_get_option(buffer, "filetype") == "codelaw-question" then
          return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), "\n")
        end
      end
      return vim.NIL
    end
    function Text()
      return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")
    end
    function Asked()
      return type(Question()) == "string"
    end
    function Send(text)
      Ended = nil
      Codelaw.open()
      Codelaw.send(text, function(problem, result)
        Ended = problem or result
      end)
    end
  ]], { os.getenv("DRIVE_RECIPE"), os.getenv("DRIVE_SERVER"), os.getenv("DRIVE_SETTINGS") })
end

local scenes = {}

-- A command is longer than the window of a question.
function scenes.long()
  lua("Send('Run it')")
  until_("a question", "Asked()")
  tell("first", lua("return Question()"))
  press(":CodelawAnswer<CR>")
  press("1")
  press("<CR>")
  until_("the question with all answers", "Asked() and Question():find('Allow once')")
  tell("whole", lua("return Text()"))
  tell("second", lua("return Question()"))
  press(":CodelawAnswer<CR>")
  press("1")
  press("<CR>")
  until_("the end", "type(Ended) == 'table'")
  tell("result", lua("return Ended.stopReason"))
end

-- A question comes while somebody types in another buffer.
function scenes.typing()
  press(":edit letter.txt<CR>")
  lua("Send('Write a note')")
  press("odear ")
  until_("a question", "Asked()")
  tell("question", lua("return Question()"))
  -- All that answers a list, a menu or a yes-or-no question somewhere.
  press("1<CR>y<CR>3<CR>a<CR>ok<CR>")
  tell("typed", lua("return Text()"))
  press("<Esc>1G2j<CR>")
  tell("open", { lua("return Asked()"), lua("return Ended") == vim.NIL, mode() })

  -- What was typed ahead of the window is not for it, and Enter alone chooses nothing.
  press(":CodelawAnswer<CR>2<CR>")
  tell("ahead", { lua("return Asked()"), lua("return vim.bo.filetype") })
  press("<CR>")
  tell("enter", lua("return Asked()"))
  press("q")
  tell("back", { lua("return Asked()"), lua("return vim.fn.expand('%:t')") })
  press(":CodelawAnswer<CR>")
  press("1")
  tell("chosen", lua("return vim.api.nvim_get_current_line()"))
  press("<CR>")
  until_("the second question", "Asked() and Question():find('sleep')")
  tell("focus", lua("return vim.fn.expand('%:t')"))
  tell("second", lua("return Question()"))

  -- A no, with its reason.
  press(":CodelawAnswer<CR>")
  press("4")
  press("<CR>")
  press("not now<CR>")
  until_("the third question", "Asked() and Question():find('echo')")
  -- Withdrawn under the hands of the user: the keys that follow reach no other buffer.
  press(":CodelawAnswer<CR>")
  lua("Codelaw.cancel()")
  until_("the end", "Ended ~= nil")
  until_("the word", "Text():find('withdrawn') ~= nil")
  press("1<CR>dd")
  tell("withdrawn", lua("return Text()"))
  press("q")
  tell("after", { lua("return Asked()"), lua("return vim.fn.expand('%:t')"), lua("return Text()") })
  tell("result", lua("return Ended"))
  tell("chat", lua("return Shown()"))
end

-- What the server asks as a message (window/showMessageRequest).
function scenes.message()
  press(":edit letter.txt<CR>")
  lua("Codelaw.start()")
  press("o")
  until_("a question", "Asked()")
  tell("question", lua("return Question()"))
  press("1<CR>2<CR>y<CR>")
  tell("open", { lua("return Asked()"), lua("return Text()"), mode() })
  press("<Esc>:CodelawAnswer<CR>")
  press("1")
  press("<CR>")
  tell("answered", lua("return Asked()"))
  until_("the trust", "require('vim.lsp') and not Asked()")
end

-- Buffers of every kind, changed behind nobody's back.
function scenes.buffers()
  press(":edit plain.txt<CR>")
  press("ggOmine<Esc>")
  lua("Send('Change it')")
  until_("the end", "Ended ~= nil")
  tell("result", lua("return Ended"))
  tell("plain", { lua("return Text()"), lua("return vim.bo.modified") })
  press("u")
  tell("undone once", lua("return Text()"))
  press("<C-r>")
  tell("redone", lua("return Text()"))

  -- In the middle of typing: undo takes back the one or the other.
  press(":edit typing.txt<CR>")
  press("Goone ")
  lua("Send('Change it while I type')")
  until_("the end", "Ended ~= nil")
  press("two<Esc>")
  tell("typing", lua("return Text()"))
  press("u")
  tell("typing undone", lua("return Text()"))
  press("u")
  tell("typing undone twice", lua("return Text()"))

  -- A buffer that has no file yet, and one that takes another name.
  press(":edit folder/new.txt<CR>")
  press("ifresh<Esc>")
  press(":edit first.txt<CR>")
  press("ggOtop<Esc>")
  press(":file second.txt<CR>")
  lua("Send('Read them')")
  until_("the end", "Ended ~= nil")
  tell("named", lua("return Ended"))

  -- Clean before the change: saved before a command looks at it.
  press(":edit! clean.txt<CR>")
  lua("Send('Change it and look')")
  until_("the end", "Ended ~= nil")
  tell("clean", { lua("return Text()"), lua("return vim.bo.modified") })

  -- What is no document.
  lua([[
    vim.cmd("terminal true")
    vim.cmd("enew")
    vim.api.nvim_buf_set_name(0, "fugitive:///repository/.git//0/plain.txt")
    vim.cmd("enew")
    vim.api.nvim_buf_set_lines(0, 0, -1, true, { "no name" })
    vim.cmd("edit! " .. vim.fn.fnameescape(os.getenv("DRIVE_OUTSIDE")))
    vim.cmd("edit! big.txt")
  ]])
  local told = lua([[
    local names = {}
    for _, number in ipairs(vim.api.nvim_list_bufs()) do
      if vim.lsp.buf_is_attached(number, Codelaw.start()) then
        names[#names + 1] = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(number), ":t")
      end
    end
    table.sort(names)
    return names
  ]])
  tell("attached", told)
  tell("chat", lua("return Shown()"))
end

-- The lines of the README for a Neovim without a plugin.
function scenes.stock()
  lua(
    [[
      local code, command, settings = ...
      local made = code:gsub('{ "codelaw", "serve" }', function()
        return "vim.fn.json_decode(" .. string.format("%q", command) .. ")"
      end)
      made = made:gsub("capabilities = capabilities,", function(found)
        return found .. " init_options = vim.fn.json_decode(" .. string.format("%q", settings) .. "),"
      end)
      assert(loadstring(made))()
      function Text()
        return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), "\n")
      end
      function Shown()
        return ""
      end
    ]],
    os.getenv("DRIVE_STOCK"),
    os.getenv("DRIVE_SERVER"),
    os.getenv("DRIVE_SETTINGS")
  )
  press(":edit plain.odd<CR>")
  press("ggOmine<Esc>")
  until_("the server", "#vim.lsp.get_active_clients() == 1 and vim.lsp.get_active_clients()[1].initialized == true")
  press("i")
  lua([[
    local params = { command = "codelaw.chat.send", arguments = { { text = "Change it" } } }
    vim.lsp.get_active_clients()[1].request("workspace/executeCommand", params, function() end)
  ]])
  local asked = vim.wait(150000, function()
    return mode().blocking or mode().mode == "c"
  end, 20)
  tell("asked", asked)
  vim.rpcrequest(inner, "nvim_input", "1<CR>yes<CR>")
  vim.wait(1000)
  tell("still asked", mode().mode)
  vim.rpcrequest(inner, "nvim_input", "answer 1<CR>")
  vim.wait(1000)
  until_("the change", "Text():find('ALPHA') ~= nil")
  tell("text", lua("return Text()"))
end

local fine, problem = pcall(function()
  if os.getenv("DRIVE_SCENE") ~= "stock" then
    start()
  end
  scenes[os.getenv("DRIVE_SCENE")]()
end)
if not fine then
  tell("error", tostring(problem))
end
out:close()
if not mode().blocking then
  pcall(lua, "for _, client in pairs(vim.lsp.get_active_clients()) do client.stop() end")
end
vim.fn.jobstop(inner)
vim.cmd("qall!")
