-- A script of wrk: POST the lines of a file, one after the other, as JSON.
local bodies, at = {}, 0

function init(arguments)
  for line in io.lines(arguments[1]) do
    bodies[#bodies + 1] = wrk.format("POST", nil, {["Content-Type"] = "application/json"}, line)
  end
end

function request()
  at = at % #bodies + 1
  return bodies[at]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format("measured %d %d %.0f %.0f %.0f %d", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99), latency.max,
    errors.connect + errors.read + errors.write + errors.status))
end
