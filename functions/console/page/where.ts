// The list of nodes and pods: as many elements as fit on the screen, whatever the number of lines.
import type { Row } from '../answers.ts';
import { byId, element, inputById } from './dom.ts';
import { Rows } from './rows.ts';

const ROW_PX = 24;
/** No element may be higher, in any browser. */
const HEIGHT_MAX_PX = 15_000_000;
/** Two thirds of a frame are left for everything else. */
const SLICE_MS = 6;
const EXTRA_ROWS = 6;

const rows = new Rows();
let isWorking = false;
let hasMore = false;
let chosen = -1;

export function take(page: { readonly isReset: boolean; readonly rows: readonly Row[] }): void {
  if (page.isReset) rows.clear();
  for (const row of page.rows) rows.apply(row);
  work();
}

export function search(query: string): void {
  rows.search(query);
  chosen = -1;
  byId('list').scrollTop = 0;
  work();
}

/** One at a time, in slices of a frame. */
function work(): void {
  hasMore = true;
  if (isWorking) return;
  isWorking = true;
  const slice = (): void => {
    hasMore = false;
    const endsAt = performance.now() + SLICE_MS;
    const isDone = rows.refresh(() => performance.now() > endsAt);
    if (isDone) draw();
    if (!isDone || hasMore) setTimeout(slice);
    else isWorking = false;
  };
  setTimeout(slice);
}

export function draw(): void {
  const list = byId('list');
  const lines = byId('lines');
  const { lines: count, total, found } = rows;
  byId('count').textContent = `${found} of ${total} pods`;
  const height = Math.min(count * ROW_PX, HEIGHT_MAX_PX);
  lines.style.height = `${height}px`;
  const shown = Math.ceil(list.clientHeight / ROW_PX);
  const room = Math.max(1, height - list.clientHeight);
  const isSqueezed = count * ROW_PX > HEIGHT_MAX_PX;
  const first = isSqueezed
    ? Math.round((list.scrollTop / room) * Math.max(0, count - shown))
    : Math.floor(list.scrollTop / ROW_PX);
  const from = Math.max(0, first - EXTRA_ROWS);
  const drawn: HTMLElement[] = [];
  for (let index = from; index < Math.min(count, first + shown + EXTRA_ROWS); index += 1) {
    const row = rows.line(index);
    if (row === undefined) continue;
    const made = drawRow(row, index === chosen);
    const top = isSqueezed ? list.scrollTop + (index - first) * ROW_PX : index * ROW_PX;
    made.style.transform = `translateY(${top}px)`;
    drawn.push(made);
  }
  lines.replaceChildren(...drawn);
}

function drawRow(row: Row, isChosen: boolean): HTMLElement {
  const [kind, namespace, name, , ips = '', state = '', services = ''] = row;
  const isNode = kind === 'n';
  const title = isNode ? name || 'no node yet' : `${namespace}/${name}`;
  return element(
    'div',
    `row${isNode ? ' node' : ''}${isChosen ? ' chosen' : ''}`,
    field('', title),
    field('faint', services),
    field('faint', ips),
    field(state === '' ? 'faint' : 'tone warning', state),
  );
}

/** The title has the whole of a text that its column cuts. */
function field(className: string, text: string): HTMLElement {
  const made = element('span', className, text);
  made.title = text;
  return made;
}

const MOVES: Readonly<Record<string, (at: number, page: number, last: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at, page) => at + page,
  PageUp: (at, page) => at - page,
  Home: () => 0,
  End: (_at, _page, last) => last,
};

/** True when the key was one of the list's. */
export function move(key: string): boolean {
  const list = byId('list');
  const page = Math.max(1, Math.floor(list.clientHeight / ROW_PX) - 1);
  const last = rows.lines - 1;
  const next = MOVES[key]?.(chosen, page, last);
  if (next === undefined) return false;
  chosen = Math.max(0, Math.min(last, next));
  const top = chosen * ROW_PX;
  const isBelow = top + ROW_PX > list.scrollTop + list.clientHeight;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (isBelow) list.scrollTop = top + ROW_PX - list.clientHeight;
  draw();
  return true;
}

export function startList(): void {
  let isDue = false;
  const drawOnce = (): void => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      draw();
    });
  };
  byId('list').addEventListener('scroll', drawOnce, { passive: true });
  window.addEventListener('resize', drawOnce);
  const query = inputById('query');
  query.addEventListener('input', () => search(query.value));
}
