'use strict';
const report = JSON.parse(document.getElementById('data').textContent);
const $ = id => document.getElementById(id);
const PHASES = ['blocked', 'lookup', 'connect', 'tls', 'send', 'wait', 'receive'];
const state = { shown: [], selected: null, unfolded: new Set(), range: null };

function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

const round = (value, digits) => Number(value.toFixed(digits)).toString();
function time(ms) {
  if (ms === undefined || ms === null) return '';
  return ms >= 10000 ? `${round(ms / 1000, 1)} s` : ms >= 100 ? `${Math.round(ms)} ms` : `${round(ms, ms >= 10 ? 1 : 2)} ms`;
}
function size(bytes) {
  if (bytes === undefined || bytes === null || bytes < 0) return '';
  return bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${round(bytes / 1e3, 1)} kB` : `${round(bytes / 1e6, 1)} MB`;
}
function quantile(values, share) {
  if (!values.length) return 0;
  const sorted = values.slice().sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}
// What was percent-encoded for machines.
function readable(text) {
  try { return decodeURI(text); } catch { return text; }
}
function parts(url) {
  try {
    const found = new URL(url);
    return { host: found.host, path: readable(found.pathname + found.search) };
  } catch { return { host: '', path: url }; }
}

// A sign and a word, so that neither colour nor sign is needed.
function outcome(one) {
  if (one.error) return { text: `✗ ${one.error}`, kind: 'bad' };
  if (one.cache) return { text: `✓ ${one.status} cache`, kind: 'good' };
  if (!one.status) return { text: '✗ no answer', kind: 'bad' };
  if (one.status >= 400) return { text: `✗ ${one.status}`, kind: 'bad' };
  if (one.status >= 300 && one.status !== 304) return { text: `↪ ${one.status}`, kind: 'turn' };
  return { text: `✓ ${one.status}`, kind: 'good' };
}

const calls = report.calls;
function prepare(call, number) {
  Object.assign(call, { number }, parts(call.url));
  const causes = call.exchanges.map(one => one.cause || '');
  call.is = {
    failed: Boolean(call.outcome.error) || !call.outcome.status, rejected: call.outcome.status >= 400,
    retried: call.attempts > 1, redirected: causes.includes('redirect') || call.exchanges.some(one => one.status >= 300 && one.status < 400),
    cached: Boolean(call.outcome.cache), connected: call.exchanges.some(one => one.connection && !one.reused),
  };
  call.size = call.exchanges.reduce((sum, one) => sum + Math.max(0, one.responseSize || 0), 0);
}

function matches(call, term) {
  if (term.startsWith('-') && term.length > 1) return !matches(call, term.slice(1));
  const limit = term.match(/^([<>])([\d.]+)(ms|s)?$/);
  if (limit) {
    const value = Number(limit[2]) * (limit[3] === 's' ? 1000 : 1);
    return limit[1] === '>' ? call.duration > value : call.duration < value;
  }
  const [, name, value] = term.match(/^(status|method|cause|event|error|host):(.+)$/) || [];
  if (!name) return call.url.toLowerCase().includes(term) || (call.route || '').toLowerCase().includes(term);
  if (name === 'status') {
    return [call.outcome, ...call.exchanges].some(one => one.status && (/^\dxx$/.test(value) ? String(one.status)[0] === value[0] : String(one.status) === value));
  }
  if (name === 'method') return call.method.toLowerCase() === value;
  if (name === 'cause') return call.exchanges.some(one => (one.cause || '').toLowerCase().includes(value));
  if (name === 'event') return call.events.some(one => one.name.toLowerCase().includes(value));
  if (name === 'error') return [call.outcome, ...call.exchanges].some(one => (one.error || '').toLowerCase().includes(value));
  return call.host.toLowerCase().includes(value);
}

function choose() {
  const terms = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const toggles = [...document.querySelectorAll('#toggles input:checked')].map(one => one.value);
  const orders = { start: (a, b) => a.start - b.start, duration: (a, b) => b.duration - a.duration, exchanges: (a, b) => b.exchanges.length - a.exchanges.length };
  const range = $('axis').value === 'capture' ? state.range : null;
  state.shown = calls.filter(call => terms.every(term => matches(call, term)) && (!toggles.length || toggles.some(one => call.is[one]))
    && (!range || (call.start + call.duration >= range[0] && call.start <= range[1]))).sort(orders[$('order').value]);
}

function bars(target, pieces, from, length) {
  let tip = [];
  for (const piece of pieces) {
    const start = (piece.at - from) / length * 100, width = piece.ms / length * 100;
    if (start >= 100 || start + width <= 0) continue;
    const bar = make('i', piece.kind);
    bar.style.left = `${Math.max(0, start)}%`;
    bar.style.width = `${Math.min(100, start + width) - Math.max(0, start)}%`;
    target.append(bar);
  }
  for (const piece of pieces) if (piece.kind !== 'idle' && piece.ms > 0) tip.push(`${piece.kind} ${time(piece.ms)}`);
  target.title = tip.join(', ');
}
function pieces(exchange, offset) {
  let at = offset + exchange.start;
  return PHASES.flatMap(kind => {
    const ms = exchange.phases[kind] || 0;
    const piece = { kind, at, ms };
    at += ms;
    return ms > 0 ? [piece] : [];
  });
}
function waterfall(call, exchanges, from, length, offset) {
  const bar = make('span', 'bar');
  const drawn = exchanges.flatMap(one => pieces(one, offset));
  const idle = exchanges.length > 1 || !exchanges.length ? [{ kind: 'idle', at: offset, ms: call.duration }] : [];
  bars(bar, [...idle, ...drawn], from, length);
  if (offset + call.duration > from + length) bar.append(make('span', 'more', '▸'));
  return bar;
}

function cells(row, values) {
  for (const [className, content] of values) {
    const cell = make('span', className);
    cell.setAttribute('role', 'gridcell');
    if (content instanceof Node) cell.append(content); else cell.textContent = content;
    row.append(cell);
  }
}

function callRow(call, from, length, offset) {
  const row = make('div', 'row call');
  row.setAttribute('role', 'row');
  row.id = `call-${call.number}`;
  const first = make('span');
  if (call.exchanges.length > 1) {
    const fold = make('button', 'fold', state.unfolded.has(call) ? '▾' : '▸');
    fold.type = 'button';
    fold.setAttribute('aria-expanded', state.unfolded.has(call));
    fold.setAttribute('aria-label', 'Exchanges');
    fold.onclick = event => { event.stopPropagation(); unfold(call); };
    first.append(fold);
  }
  first.append(String(call.number));
  const path = make('span');
  path.append(make('span', 'dim host', call.host), call.path);
  path.title = call.url;
  const result = outcome(call.outcome);
  cells(row, [
    ['', first], ['', call.method], ['', path], [result.kind, result.text], ['count', call.exchanges.length > 1 ? `×${call.exchanges.length}` : ''],
    ['right size', size(call.size)], ['right', time(call.duration)], ['', waterfall(call, call.exchanges, from, length, offset)],
  ]);
  row.setAttribute('aria-selected', call === state.selected);
  row.onclick = () => select(call);
  return row;
}
function exchangeRows(call) {
  return call.exchanges.map((one, index) => {
    const row = make('div', 'row exchange');
    row.setAttribute('role', 'row');
    const result = outcome(one);
    const why = index ? `└ ${one.cause || 'again'}` : '└ first';
    const url = parts(one.url);
    const path = make('span');
    path.append(make('span', 'dim host', url.host), url.path);
    cells(row, [
      ['', ''], ['', one.method], ['', path], [result.kind, result.text], ['count', one.connection ? (one.reused ? 'kept' : 'new') : ''],
      ['right size', size(one.responseSize)], ['right', time(one.duration)], ['', waterfall(call, [one], 0, Math.max(call.duration, 0.001), 0)],
    ]);
    row.children[2].prepend(make('span', 'dim', `${why}${one.attempt > 1 ? `, attempt ${one.attempt}` : ''}  `));
    return row;
  });
}

const earliest = () => calls.reduce((first, one) => Math.min(first, one.start), calls.length ? Infinity : 0);

function draw() {
  choose();
  const list = $('list');
  const axis = $('axis').value;
  const begin = earliest();
  const end = calls.reduce((last, one) => Math.max(last, one.start + one.duration), begin);
  const range = axis === 'capture' ? state.range || [begin, end] : [0, 4 * quantile(state.shown.map(one => one.duration), 0.5)];
  const length = Math.max(range[1] - range[0], 0.001);
  const head = make('div', 'row head');
  head.setAttribute('role', 'row');
  for (const [className, title] of [['', '#'], ['', 'method'], ['', 'path'], ['', 'outcome'], ['count', ''], ['right size', 'size'], ['right', 'time'], ['', axis === 'call' ? `0 … ${time(length)}` : `${time(range[0] - begin)} … ${time(range[1] - begin)}`]]) {
    const cell = make('span', className, title);
    cell.setAttribute('role', 'columnheader');
    head.append(cell);
  }
  const rows = [head];
  for (const call of state.shown) {
    rows.push(callRow(call, range[0], length, axis === 'call' ? 0 : call.start));
    if (state.unfolded.has(call)) rows.push(...exchangeRows(call));
  }
  list.replaceChildren(...rows);
  if (!state.shown.length) list.append(make('p', 'dim', calls.length ? 'No call matches.' : 'There are no calls.'));
  $('shown').textContent = `${state.shown.length} of ${calls.length}`;
  $('strip').hidden = axis !== 'capture' || !calls.length;
  drawStrip(begin, end);
}

function drawStrip(begin, end) {
  const strip = $('strip');
  if (strip.hidden) return;
  const length = Math.max(end - begin, 0.001);
  const ticks = calls.map(call => {
    const tick = make('i');
    tick.style.left = `${(call.start - begin) / length * 100}%`;
    return tick;
  });
  strip.replaceChildren(...ticks);
  if (state.range) {
    const mark = make('b');
    mark.style.left = `${(state.range[0] - begin) / length * 100}%`;
    mark.style.width = `${(state.range[1] - state.range[0]) / length * 100}%`;
    strip.prepend(mark);
  }
  const at = event => begin + Math.min(1, Math.max(0, (event.clientX - strip.getBoundingClientRect().left) / strip.clientWidth)) * length;
  strip.onpointerdown = event => {
    const start = at(event);
    strip.setPointerCapture(event.pointerId);
    strip.onpointerup = event => {
      const stop = at(event);
      state.range = Math.abs(stop - start) < length / 200 ? null : [Math.min(start, stop), Math.max(start, stop)];
      draw();
    };
  };
}

// MARK: One call

function unfold(call) {
  if (call.exchanges.length < 2) return;
  if (!state.unfolded.delete(call)) state.unfolded.add(call);
  draw();
}

function select(call) {
  if (state.selected) $(`call-${state.selected.number}`)?.setAttribute('aria-selected', false);
  state.selected = call;
  $('panel').hidden = !call;
  document.body.classList.toggle('has-panel', Boolean(call));
  if (!call) return;
  const chosen = $(`call-${call.number}`);
  if (chosen) {
    chosen.setAttribute('aria-selected', true);
    chosen.scrollIntoView({ block: 'nearest' });
  }
  describe(call);
}

function copyButton(title, text) {
  const button = Object.assign(make('button', '', title), { type: 'button' });
  const done = () => { button.textContent = 'copied'; };
  const fallback = () => {
    const area = Object.assign(make('textarea'), { value: text() });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
    done();
  };
  button.onclick = () => { if (navigator.clipboard) navigator.clipboard.writeText(text()).then(done, fallback); else fallback(); };
  return button;
}
const quoted = text => `'${text.replaceAll("'", "'\\''")}'`;
// Nothing in it is a pattern, an option or a file to curl. A body that isn't text, or isn't here as a whole, comes from the standard input.
function curl(one) {
  const hasBody = one.method !== 'HEAD' && (one.requestBody || one.isRequestCut);
  const words = ['curl -g --path-as-is', one.method === 'HEAD' ? '--head' : `-X ${quoted(one.method)}`, '--url', quoted(one.url)];
  const fields = one.requestHeaders.filter(([name]) => !/^([:@].*|content-length|transfer-encoding)$/i.test(name));
  for (const [name, value] of fields) words.push('-H', quoted(value ? `${name}: ${value}` : `${name};`));
  if (hasBody && !fields.some(([name]) => name.toLowerCase() === 'content-type')) words.push("-H 'Content-Type:'");
  if (hasBody) words.push(one.isRequestCut || one.requestBody.encoding ? '--data-binary @-' : `--data-raw ${quoted(one.requestBody.text)}`);
  return words.join(' ');
}
function har(call) {
  const text = body => body && { mimeType: body.type, text: body.text, encoding: body.encoding };
  const part = (one, fields) => ({ httpVersion: one.version, headers: fields.map(([name, value]) => ({ name, value })), cookies: [], headersSize: -1, bodySize: -1 });
  const timings = ({ blocked = 0, lookup = 0, connect = 0, tls = 0, send = 0, wait = 0, receive = 0 }) => ({ blocked, dns: lookup, connect: connect + tls, ssl: tls, send, wait, receive });
  return JSON.stringify(call.exchanges.map(one => ({
    startedDateTime: new Date(report.made + call.start + one.start).toISOString(), time: one.duration, cache: {}, timings: timings(one.phases), _midstream: { isRequestCut: one.isRequestCut, isCut: one.isCut },
    request: { method: one.method, url: one.url, queryString: [], postData: text(one.requestBody), ...part(one, one.requestHeaders) },
    response: { status: one.status || 0, statusText: '', redirectURL: '', content: { size: one.responseSize || 0, mimeType: '', ...text(one.responseBody) }, ...part(one, one.responseHeaders) },
  })), null, 2);
}

function headers(title, fields) {
  if (!fields.length) return [];
  const table = make('table');
  for (const [name, value] of fields) {
    const row = make('tr');
    row.append(make('td', '', name), make('td', '', value));
    table.append(row);
  }
  return [make('h3', '', title), table];
}
function body(title, content, isCut) {
  if (!content || !content.text) return [];
  let text = content.text;
  if (content.encoding === 'base64') text = `${content.type || 'bytes'} in Base64: ${text.slice(0, 200)}…`;
  else try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* Not JSON: as it is. */ }
  return [make('h3', '', isCut ? `${title}, its beginning` : title), make('pre', '', text.length > 100000 ? text.slice(0, 100000) + '…' : text)];
}

function exchangeBox(one) {
  const box = make('div', 'box');
  const result = outcome(one);
  const head = make('p');
  head.append(make('b', '', `${one.number}. `), make('span', result.kind, result.text), ` after ${time(one.duration)}`);
  box.append(head);
  box.append(make('p', 'dim', `${one.method} ${readable(one.url)}`));
  const facts = [one.version, one.connection && (one.reused ? 'kept connection' : 'new connection'), one.peer, one.attempt > 1 && `attempt ${one.attempt}`];
  box.append(make('p', 'dim', facts.filter(Boolean).join(' · ')));
  const total = Math.max(one.duration, 0.001);
  for (const piece of pieces(one, -one.start)) {
    const line = make('div', 'phase');
    const bar = make('span', 'bar');
    bars(bar, [piece], 0, total);
    line.append(make('span', '', piece.kind), bar, make('span', 'right', time(piece.ms)));
    box.append(line);
  }
  if (one.message) box.append(make('p', 'bad', one.message));
  const more = make('details');
  const command = curl(one);
  more.append(make('summary', '', 'headers and bodies'), ...headers('Request', one.requestHeaders), ...body('Request body', one.requestBody, one.isRequestCut),
    ...headers('Response', one.responseHeaders), ...body('Response body', one.responseBody, one.isCut),
    copyButton(command.endsWith(' @-') ? 'copy as curl, without the body' : 'copy as curl', () => command));
  box.append(more);
  return box;
}

function describe(call) {
  const panel = $('panel');
  const result = outcome(call.outcome);
  const head = make('h2', '', `${call.method} ${readable(call.url)}`);
  const line = make('p');
  line.append(make('span', result.kind, result.text), ` after ${time(call.duration)}${call.attempts > 1 ? ` · ${call.attempts} attempts` : ''}${call.route ? ` · ${call.route}` : ''}`);
  panel.replaceChildren(head, line);
  if (call.outcome.message) panel.append(make('p', 'bad', call.outcome.message));
  panel.append(make('h3', '', 'What happened'));
  const story = [...call.exchanges.map(one => ({ at: one.start, box: exchangeBox(one) })), ...call.events.map(one => ({ at: one.at, event: one }))]
    .sort((a, b) => a.at - b.at);
  for (const step of story) {
    if (step.box) { panel.append(step.box); continue; }
    const event = make('p', 'event');
    event.append(make('span', 'dim', `${time(step.at)}  `), step.event.text || step.event.name);
    event.title = [step.event.name, ...Object.entries(step.event.attributes || {}).map(([name, value]) => `${name}: ${value}`)].join('\n');
    panel.append(event);
  }
  if (call.spans && call.spans.length) {
    panel.append(make('h3', '', 'Pipeline'));
    for (const one of call.spans) {
      const row = make('div', 'span');
      const name = make('span', '', '  '.repeat(one.depth) + one.name);
      name.title = one.name;
      const bar = make('span', 'bar');
      bars(bar, [{ kind: 'span', at: one.at, ms: one.ms }], 0, Math.max(call.duration, 0.001));
      row.append(name, bar, make('span', 'right', time(one.ms)));
      panel.append(row);
    }
  }
  panel.append(make('h3'), copyButton('copy as HAR entries', () => har(call)));
}

// MARK: Keys

document.onkeydown = event => {
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === 'Escape') {
    if (isTyping) event.target.blur(); else select(null);
    return;
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const place = state.shown.indexOf(state.selected);
  if (event.key === 'j' || event.key === 'ArrowDown') select(state.shown[Math.min(place + 1, state.shown.length - 1)] || null);
  else if (event.key === 'k' || event.key === 'ArrowUp') select(state.shown[Math.max(place - 1, 0)] || null);
  else if (event.key === 'Enter' && state.selected && event.target.tagName !== 'BUTTON') unfold(state.selected);
  else if (event.key === '/') $('filter').focus();
  else if (event.key === '?') $('help').showModal();
  else return;
  event.preventDefault();
};

function summarize() {
  const durations = calls.map(one => one.duration);
  const begin = earliest();
  const span = calls.reduce((last, one) => Math.max(last, one.start + one.duration), begin) - begin;
  const exchanges = calls.reduce((sum, one) => sum + one.exchanges.length, 0);
  $('summary').textContent = `${calls.length} calls, ${exchanges} exchanges, ${calls.filter(one => one.is.failed || one.is.rejected).length} failed`
    + (calls.length ? `, median ${time(quantile(durations, 0.5))}, p95 ${time(quantile(durations, 0.95))}, in ${time(span)}` : '');
}

$('bar').onsubmit = event => event.preventDefault();
$('filter').oninput = draw;
for (const id of ['toggles', 'axis', 'order']) $(id).onchange = draw;
for (const kind of PHASES) $('legend').append(make('i', kind), kind);
calls.forEach((call, index) => prepare(call, (report.live ? report.live.first : 1) + index));
summarize();
draw();
