'use strict';
// Calls that end while the page is open.
const progress = make('span', 'dim', 'connecting');
progress.setAttribute('role', 'status');
$('summary').before(progress);

// As long as the end of the list is in sight it stays there.
$('list').scrollTop = $('list').scrollHeight;

let isDue = false;
function redraw() {
  if (isDue) return;
  isDue = true;
  setTimeout(() => {
    isDue = false;
    const list = $('list');
    const follows = $('order').value === 'start' && list.scrollHeight - list.scrollTop - list.clientHeight < 60;
    summarize();
    draw();
    if (follows) list.scrollTop = list.scrollHeight;
  }, 200);
}

function add(call, number) {
  prepare(call, number);
  calls.push(call);
  for (const old of calls.splice(0, calls.length - report.live.limit)) state.unfolded.delete(old);
}

let failures = 0;
const source = new EventSource(`events?after=${report.live.first + calls.length - 1}`);
source.onopen = () => {
  failures = 0;
  progress.textContent = '● live';
};
source.onmessage = event => {
  add(JSON.parse(event.data), Number(event.lastEventId));
  redraw();
};
source.onerror = () => {
  // Somebody else may have the port by now.
  if (++failures > 3) source.close();
  progress.textContent = source.readyState === EventSource.CLOSED ? 'ended' : 'connecting again';
};
