/// The operations of a store as Redis runs them, each at once. Times are Redis' own.
enum StoreScript: CaseIterable, Sendable {
    case recognize, heartbeat, offerToken, takeToken, writeToken, replaceToken, failToken, reserve, giveBack, drain
    case responses, keepResponse, updateResponse, remove

    var text: String {
        switch self {
        // KEYS: process, the stamp of everything. ARGV: ms that each is kept. One that isn't the same process as before may have come back
        // without the last removals: everything is removed. Nobody has to be told, since all members begin with this. Not every user may
        // ask which process it is.
        case .recognize:
            """
            local info = redis.pcall('INFO', 'server')
            local process = type(info) == 'string' and string.match(info, 'run_id:(%x+)')
            if not process then return 0 end
            if redis.call('GET', KEYS[1]) ~= process then
              local t = redis.call('TIME')
              redis.call('SET', KEYS[2], t[1] .. '.' .. t[2], 'PX', ARGV[2])
            end
            redis.call('SET', KEYS[1], process, 'PX', ARGV[1])
            return 1
            """
        // KEYS: members, process. ARGV: member, ms that it counts, ms that the process is remembered: what is in use is evicted late.
        // Returns how many members there are.
        case .heartbeat:
            """
            local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)
            redis.call('ZADD', KEYS[1], now, ARGV[1])
            redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
            redis.call('PEXPIRE', KEYS[1], 10 * tonumber(ARGV[2]))
            redis.call('PEXPIRE', KEYS[2], ARGV[3])
            return redis.call('ZCARD', KEYS[1])
            """
        // KEYS: token, lock. ARGV: holder, what is put, grace. Returns the token that is there.
        case .offerToken:
            Self.token + """
                local login, new, obtained = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
                if login > l or (login == l and (new > g or (new == g and obtained > o))) then
                  put(login, new, r[6], tonumber(ARGV[9]))
                end
                if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
                if not r[1] and tonumber(ARGV[9]) > 0 then tellOfLoss() end
                return redis.call('HMGET', KEYS[1], 'g', 'o', 't', 'd', 'l')
                """
        // KEYS: token, lock. ARGV: holder, login, generation, obtained, lease, grace, channel. Returns what the answer is, and its parts.
        case .takeToken:
            Self.token + """
                if not r[1] and tonumber(ARGV[6]) > 0 then
                  redis.call('HSET', KEYS[1], 'g', 0, 'o', 0, 'hu', now + tonumber(ARGV[6]))
                  redis.call('PEXPIRE', KEYS[1], day)
                  tellOfLoss()
                end
                if l ~= tonumber(ARGV[2]) or g ~= tonumber(ARGV[3]) or o ~= tonumber(ARGV[4]) then
                  return {'other', r[1], r[2], r[3], r[4], r[5]}
                end
                if tonumber(r[4] or '-1') == g then return {'dead'} end
                local f = redis.call('HMGET', KEYS[1], 'fg', 'fu', 'sg', 'su', 'hu')
                if tonumber(f[5] or '0') > now then return {'lost', tonumber(f[5]) - now} end
                if tonumber(f[1] or '-1') == g and tonumber(f[2]) > now then return {'failed', tonumber(f[2]) - now} end
                local holder = redis.call('GET', KEYS[2])
                if holder and holder ~= ARGV[1] then return {'held', redis.call('PTTL', KEYS[2])} end
                if not holder and tonumber(f[3] or '-1') == g and tonumber(f[4]) > now then return {'held', tonumber(f[4]) - now} end
                redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[5])
                redis.call('HSET', KEYS[1], 'g', ARGV[3], 'o', ARGV[4], 'sg', ARGV[3], 'sb', ARGV[1], 'su', now + tonumber(ARGV[5]))
                if redis.call('PTTL', KEYS[1]) < day then redis.call('PEXPIRE', KEYS[1], day) end
                return {'mine'}
                """
        // KEYS: token, lock. ARGV: holder, what is put.
        case .writeToken:
            Self.token + """
                if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
                if l ~= tonumber(ARGV[2]) or g ~= tonumber(ARGV[3]) - 1 then return 0 end
                put(ARGV[2], ARGV[3], r[6], 0)
                redis.call('DEL', KEYS[2])
                return 1
                """
        // KEYS: token, lock. ARGV: wish, what is put, of which login and generation are the least. Returns the wish's login, and the token
        // that is there.
        case .replaceToken:
            Self.token + """
                local wish, wishes = ';' .. ARGV[1] .. '=', r[6] or ';'
                local _, mark = string.find(wishes, wish, 1, true)
                local begun = mark and string.match(wishes, '^(%d+);', mark + 1)
                if not begun then
                  begun = string.format('%.0f', math.max(l + 1, tonumber(ARGV[2])))
                  put(begun, math.max(g + 1, tonumber(ARGV[3])), string.sub(wish .. begun .. wishes, 1, 2000), 0)
                  redis.call('DEL', KEYS[2])
                end
                return {begun, redis.call('HMGET', KEYS[1], 'g', 'o', 't', 'd', 'l')}
                """
        // KEYS: token, lock. ARGV: holder, login, generation, pause or -1, 1 for dead, channel, name.
        case .failToken:
            Self.token + """
                local mine = redis.call('GET', KEYS[2]) == ARGV[1]
                if mine then redis.call('DEL', KEYS[2]) end
                if not r[1] or l ~= tonumber(ARGV[2]) or g ~= tonumber(ARGV[3]) then return 0 end
                if not (mine or ARGV[5] == '1') then return 0 end
                redis.call('HDEL', KEYS[1], 'sg', 'sb', 'su')
                if ARGV[5] == '1' then
                  redis.call('HSET', KEYS[1], 'd', ARGV[3])
                  redis.call('PEXPIRE', KEYS[1], 90 * day)
                elseif tonumber(ARGV[4]) >= 0 then
                  local f = redis.call('HMGET', KEYS[1], 'fg', 'fn')
                  local n = 0
                  if tonumber(f[1] or '-1') == g then n = math.min(tonumber(f[2]) + 1, 10) end
                  local pause = math.max(tonumber(ARGV[4]), math.min(5000, 100 * 2 ^ n))
                  redis.call('HSET', KEYS[1], 'fg', ARGV[3], 'fu', string.format('%.0f', now + pause), 'fn', n)
                end
                redis.call('PUBLISH', ARGV[6], ARGV[7])
                return 1
                """
        // KEYS: quota. ARGV: µs a token, burst, µs that it may wait. Returns whether it is sent, and the wait.
        case .reserve:
            Self.quota + """
                local new = tat + i; local wait = new - burst * i - now
                if wait > tonumber(ARGV[3]) then return {0, math.ceil(wait)} end
                put(new)
                return {1, math.max(0, math.ceil(wait))}
                """
        // KEYS: quota. ARGV: µs a token, burst.
        case .giveBack: Self.quota + "put(math.max(now, tat - i)); return 1"
        // KEYS: quota. ARGV: µs a token, burst, µs until a token comes.
        case .drain:
            Self.quota + """
                local new = now + tonumber(ARGV[3]) + (burst - 1) * i
                if new > tat then put(new) end
                return 1
                """
        // KEYS: responses, stamps. ARGV: the life of another one that begins to come; nothing: none does. Returns the stamps, the hash, whose
        // other stamps make it empty, and the time in µs. For another one stamps that are missing, expired or evicted are made anew, so that
        // nothing is valid without one. A time that no earlier stamp had, even of a server that came back with old data.
        case .responses:
            """
            local t, last = redis.call('TIME'), ARGV[1] and #KEYS or 1
            for n = 2, last do redis.call('SET', KEYS[n], t[1] .. '.' .. t[2], 'NX') end

            """ + Self.stamps + """
                for n = 2, last do prolong(KEYS[n], ARGV[1]) end
                return {s, is == old and redis.call('HGETALL', KEYS[1]) or {}, t[1] * 1000000 + t[2]}
                """
        // KEYS: responses, stamps. ARGV: stamps, life, id, head, pieces, variant, how many variants are kept, µs when it began to come, which
        // of a part are negative.
        case .keepResponse:
            Self.stamps + """
                if is ~= ARGV[1] then return 0 end
                if is ~= old then redis.call('DEL', KEYS[1]) end
                local all, times, begun, changed, same, others = redis.call('HGETALL', KEYS[1]), {}, {}, {}, {}, {}
                local function drop(id)
                  redis.call('HDEL', KEYS[1], 'h' .. id, 'p' .. id, 'o' .. id, 'v' .. id, 'r' .. id, 'c' .. id)
                end
                for n = 1, #all, 2 do
                  local kind, id = string.sub(all[n], 1, 1), string.sub(all[n], 2)
                  if kind == 'o' then times[id] = tonumber(all[n + 1]) end
                  if kind == 'r' then begun[id] = tonumber(all[n + 1]) end
                  if kind == 'c' then changed[id] = all[n + 1] == '0' end
                  if kind == 'v' and id ~= ARGV[3] then table.insert(all[n + 1] == ARGV[6] and same or others, id) end
                end
                local t = redis.call('TIME'); local now = t[1] * 1000000 + t[2]
                local mine = tonumber(ARGV[8]); local isPart = mine < 0
                for _, id in ipairs(same) do
                  local r = begun[id] or 0
                  local later = math.abs(r) > math.abs(mine) and math.abs(r) <= now
                  if later and (r > 0 or isPart) or isPart and r > 0 and not changed[id] then return 0 end
                end
                for _, id in ipairs(same) do drop(id) end
                table.sort(others, function(a, b) return (times[a] or 0) > (times[b] or 0) end)
                for n = tonumber(ARGV[7]), #others do drop(others[n]) end
                redis.call('HSET', KEYS[1], 's', is, 'h' .. ARGV[3], ARGV[4], 'p' .. ARGV[3], ARGV[5],
                  'v' .. ARGV[3], ARGV[6], 'o' .. ARGV[3], string.format('%.0f', now), 'r' .. ARGV[3], ARGV[8])
                redis.call('HDEL', KEYS[1], 'c' .. ARGV[3])
                prolongAll(ARGV[2], ARGV[5])
                return 1
                """
        // KEYS: responses, stamps. ARGV: id, head, life, 1 for confirmed, 0 for changed.
        case .updateResponse:
            Self.stamps + """
                if is ~= old or redis.call('HEXISTS', KEYS[1], 'h' .. ARGV[1]) == 0 then return 0 end
                redis.call('HSET', KEYS[1], 'h' .. ARGV[1], ARGV[2], 'c' .. ARGV[1], ARGV[4])
                if ARGV[4] == '1' then
                  local t = redis.call('TIME'); local now = t[1] * 1000000 + t[2]
                  local r = tonumber(redis.call('HGET', KEYS[1], 'r' .. ARGV[1]) or '0')
                  redis.call('HSET', KEYS[1], 'r' .. ARGV[1], string.format('%.0f', r < 0 and -now or now))
                end
                prolongAll(ARGV[3], redis.call('HGET', KEYS[1], 'p' .. ARGV[1]) or '')
                return 1
                """
        // KEYS: stamps. ARGV: life, channel.
        case .remove:
            """
            local t = redis.call('TIME')
            for n = 1, #KEYS do
              redis.call('SET', KEYS[n], t[1] .. '.' .. t[2], 'PX', ARGV[1])
              redis.call('PUBLISH', ARGV[2], KEYS[n])
            end
            return 1
            """
        }
    }

    /// What all that change a token begin with: the fields of what is there, and how it is replaced. What is put is ARGV from 2 to 8: login,
    /// generation, obtained, token, life, channel, name. Members are told on the channel, which is ARGV 7, of a token that isn't there.
    ///
    /// A token: l login, where it isn't 0; g generation, o obtained, t sealed, d generation that is dead; w the latest wishes and the logins that
    /// they began, as in `;wish=2;wish=1;`; fg, fu, fn generation, end and number of failures; sg, sb, su generation that is being spent, by
    /// whom, until when; hu until when nobody refreshes, since members may know a newer one.
    private static let token = """
        local t = redis.call('TIME'); local now = t[1] * 1000 + math.floor(t[2] / 1000)
        local day = 86400000
        local r = redis.call('HMGET', KEYS[1], 'g', 'o', 't', 'd', 'l', 'w')
        local g, o, l = tonumber(r[1] or '0'), tonumber(r[2] or '0'), tonumber(r[5] or '0')
        local function put(login, generation, wishes, grace)
          redis.call('DEL', KEYS[1])
          redis.call('HSET', KEYS[1], 'l', login, 'g', generation, 'o', ARGV[4], 't', ARGV[5])
          if wishes then redis.call('HSET', KEYS[1], 'w', wishes) end
          if grace > 0 then redis.call('HSET', KEYS[1], 'hu', now + grace) end
          redis.call('PEXPIRE', KEYS[1], ARGV[6])
          redis.call('PUBLISH', ARGV[7], ARGV[8])
        end
        local function tellOfLoss() redis.call('PUBLISH', ARGV[7], KEYS[1] .. ':lost') end

        """

    /// What those of quotas begin with: µs, below 2^53, and when the last token of those that are taken comes.
    private static let quota = """
        local t = redis.call('TIME'); local now = t[1] * 1000000 + t[2]
        local i, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
        local tat = tonumber(redis.call('GET', KEYS[1]) or now); if tat < now then tat = now end
        local function put(new)
          redis.call('SET', KEYS[1], string.format('%.0f', new), 'PX', math.ceil((new - now) / 1000) + 1000)
        end

        """

    /// What those of responses begin with: the stamps, in all, and those by which the responses that are there are valid. While one is
    /// missing none is: earlier versions have stored without.
    private static let stamps = """
        local s = {}
        for n = 2, #KEYS do s[n - 1] = redis.call('GET', KEYS[n]) or '' end
        local is, old = table.concat(s, ' '), redis.call('HGET', KEYS[1], 's')
        for n = 1, #s do if s[n] == '' then old = false end end
        local function prolong(name, life)
          if redis.call('PTTL', name) < tonumber(life) then redis.call('PEXPIRE', name, life) end
        end
        local function prolongAll(life, pieces)
          for n = 1, #KEYS do prolong(KEYS[n], life) end
          for name in string.gmatch(pieces, '%S+ %S+ (%S+)') do prolong(name, life) end
        end

        """
}
