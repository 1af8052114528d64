// The page: follows the state and the pods for as long as it is seen, and obeys the keyboard.
import type { Row, ShownState } from '../answers.ts';
import { ask, keepToken, pauseAfterFailure, Refused, sleep, untilVisible } from './ask.ts';
import { byId, inputById } from './dom.ts';
import { drawNow } from './now.ts';
import { draw, move, search, startList, take } from './where.ts';

interface PodPage {
  readonly after: string;
  readonly phase: string;
  readonly isReset: boolean;
  readonly isWhole: boolean;
  readonly rows: readonly Row[];
}

const STATE_EVERY_MS = 3_000;
/** Well within the second in which a change is to be seen, also where all changes all the time. */
const PODS_EVERY_MS = 250;
const TABS = ['now', 'where'] as const;

/** Why each of the two is not followed now. */
const failing = new Map<string, Error>();

/** A step says how long it is until the next one. */
async function follow(name: string, step: () => Promise<number>): Promise<never> {
  for (;;) {
    await untilVisible();
    try {
      const pauseMs = await step();
      failing.delete(name);
      tell();
      await sleep(pauseMs);
    } catch (error) {
      failing.set(name, error instanceof Error ? error : new Error(String(error)));
      tell();
      await pauseAfterFailure();
    }
  }
}

function tell(): void {
  const [error] = failing.values();
  const isRefused = error instanceof Refused;
  const wantsToken = isRefused && (error.status === 401 || error.status === 403);
  byId('token').toggleAttribute('hidden', !wantsToken);
  const silent = error === undefined ? '' : 'The function does not answer; this is as of before.';
  byId('link').textContent = isRefused ? error.message : silent;
  byId('link').toggleAttribute('hidden', error === undefined);
  if (!failing.has('state')) return;
  byId('verdict').textContent = 'Unknown';
  byId('verdict').className = 'tone unknown';
}

async function followState(): Promise<number> {
  drawNow(await ask<ShownState>('api/state'));
  return STATE_EVERY_MS;
}

let after = '';

async function followPods(): Promise<number> {
  const page = await ask<PodPage>(after === '' ? 'api/pods' : `api/pods?after=${after}`);
  take(page);
  after = page.after;
  return page.isWhole ? PODS_EVERY_MS : 0;
}

function showTab(): void {
  const wanted = location.hash.slice(1);
  const shown = TABS.find((tab) => tab === wanted) ?? 'now';
  for (const tab of TABS) {
    byId(tab).toggleAttribute('hidden', tab !== shown);
    const link = byId(`tab-${tab}`);
    if (tab === shown) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (shown === 'where') draw();
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const query = inputById('query');
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === 'Escape') {
    if (query.value !== '') {
      query.value = '';
      search('');
    } else if (event.target instanceof HTMLElement) event.target.blur();
  } else if (!isTyping && event.key === '/') {
    location.hash = 'where';
    showTab();
    query.focus();
    event.preventDefault();
  } else if (!isTyping && (event.key === '1' || event.key === '2')) {
    location.hash = TABS[Number(event.key) - 1] ?? 'now';
  } else if (!byId('where').hidden && !isEditing(event) && move(event.key)) event.preventDefault();
}

/** These move within the text of a search. */
const isEditing = ({ target, key }: KeyboardEvent): boolean =>
  target instanceof HTMLInputElement && (key === 'Home' || key === 'End');

window.addEventListener('hashchange', showTab);
document.addEventListener('keydown', onKey);
byId('token').addEventListener('submit', (event) => {
  event.preventDefault();
  keepToken(inputById('token-text').value.trim());
});
startList();
showTab();
void follow('state', followState);
void follow('pods', followPods);
