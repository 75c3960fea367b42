-- Sends prepared requests with wrk, each once and in order, or over and over.
-- Arguments: the file of request heads' first lines (a path, or a path, a tab and a cookie, per line), the method, the
-- file of the other header fields, the file of what comes before the content, of the content and of what comes after it
-- ("-" for none of the three), and "once" or "again". The first 16 bytes of a content are the number of its request.

local firsts, rest, before, content, after, once = {}, "", "", nil, "", false
local at = 0

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

function init(args)
  local method = args[2]
  for line in io.lines(args[1]) do
    local path, cookie = line:match("^([^\t]+)\t(.*)$")
    local field = cookie and ("Cookie: " .. cookie .. "\r\n") or ""
    firsts[#firsts + 1] = method .. " " .. (path or line) .. " HTTP/1.1\r\n" .. field
  end
  rest = read(args[3])
  if args[4] ~= "-" then
    before, content, after = read(args[4]), read(args[5]):sub(17), read(args[6])
  end
  once = args[7] == "once"
end

function request()
  at = at + 1
  if at > #firsts then
    if once then wrk.thread:stop() end
    at = 1
  end
  if content == nil then return firsts[at] .. rest end
  return firsts[at] .. rest .. before .. string.format("%016d", at) .. content .. after
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"duration_us":%d,"bytes":%d,"p50_us":%d,"p99_us":%d,"failed":%d,"broken":%d}\n',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
