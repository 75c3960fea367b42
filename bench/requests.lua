-- Sends prepared requests with wrk, each once and in order, or over and over.
-- Arguments: the file of request heads' first lines (a path and header fields, separated by tabs, per line), the
-- method, the file of the other header fields, the file of what comes before the content, of the content and of what
-- comes after it ("-" for none of the three), "once" or "again", and the file of the header fields of appends ("-" for
-- none). The first 16 bytes of a content are the number of its request.
-- With appends, the prepared requests have no content: each creates an upload, and its content follows in a PATCH to
-- the Location of the response.

local firsts, rest, before, content, after, once = {}, "", "", nil, "", false
local at = 0
local append, created, appended = nil, {}, 0

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

function init(args)
  local method = args[2]
  for line in io.lines(args[1]) do
    local path, fields = line:match("^([^\t]+)(.*)$")
    fields = fields:gsub("\t([^\t]+)", "%1\r\n")
    firsts[#firsts + 1] = method .. " " .. path .. " HTTP/1.1\r\n" .. fields
  end
  rest = read(args[3])
  if args[4] ~= "-" then
    before, content, after = read(args[4]), read(args[5]):sub(17), read(args[6])
  end
  once = args[7] == "once"
  if args[8] ~= "-" then
    append = read(args[8])
    function response(status, headers)
      if status == 201 then created[#created + 1] = headers["location"] end
    end
  end
end

local function numbered(number)
  return before .. string.format("%016d", number) .. content .. after
end

function request()
  local url = table.remove(created)
  if url ~= nil then
    appended = appended + 1
    return "PATCH " .. url .. " HTTP/1.1\r\n" .. append .. numbered(appended)
  end
  at = at + 1
  if at > #firsts then
    if once then wrk.thread:stop() end
    at = 1
  end
  if content == nil or append ~= nil then return firsts[at] .. rest end
  return firsts[at] .. rest .. numbered(at)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"duration_us":%d,"bytes":%d,"p50_us":%d,"p99_us":%d,"failed":%d,"broken":%d}\n',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99),
    errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
