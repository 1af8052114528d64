// Draws what is wrong with what to do, and below it each object with conditions, plan and members.
import type { Problem, ShownObject, ShownState } from '../answers.ts';
import { byId, element } from './dom.ts';

/** Ages are drawn anew so often, also where nothing else changes. */
const AGES_EVERY_MS = 30_000;

let drawn = '';

export function drawNow(state: ShownState): void {
  const wrong = state.problems.filter(({ severity }) => severity !== 'note').length;
  const count = wrong + state.problemsLeft;
  const verdict = byId('verdict');
  verdict.textContent = verdictOf(count);
  verdict.className = `tone ${count === 0 ? 'fine' : (state.problems[0]?.severity ?? 'unknown')}`;
  document.title = count === 0 ? 'Ballast' : `(${count}) Ballast`;
  const { now, ...rest } = state;
  const nowMs = Date.parse(now);
  const text = `${Math.floor(nowMs / AGES_EVERY_MS)} ${JSON.stringify(rest)}`;
  if (text === drawn) return;
  drawn = text;
  byId('problems').replaceChildren(
    ...state.problems.map((problem) => drawProblem(problem, nowMs)),
    ...(state.problemsLeft > 0 ? [element('p', 'faint', `and ${state.problemsLeft} more`)] : []),
  );
  const objects = byId('objects');
  const open = new Set(
    [...objects.querySelectorAll('details[open]')].map((one) => one.getAttribute('data-key')),
  );
  objects.replaceChildren(...state.kinds.flatMap((kind) => drawKind(kind, nowMs, open)));
}

function verdictOf(count: number): string {
  if (count === 0) return 'Nothing is wrong';
  return count === 1 ? 'One thing is wrong' : `${count} things are wrong`;
}

function nameOf({ namespace, name = '' }: Pick<Problem, 'namespace' | 'name'>): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function ageOf(time: string, nowMs: number): string {
  const seconds = Math.max(0, (nowMs - Date.parse(time)) / 1_000);
  if (Number.isNaN(seconds)) return '';
  if (seconds < 120) return `${Math.floor(seconds)} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

function drawProblem(problem: Problem, nowMs: number): HTMLElement {
  const { severity, kind, reason, says, next, docs, since } = problem;
  const age = since === undefined ? '' : `, for ${ageOf(since, nowMs)}`;
  return element(
    'div',
    `problem ${severity}`,
    element(
      'p',
      '',
      element('span', 'tone', severity),
      ` ${kind} ${nameOf(problem)} `,
      element('span', 'faint', `${reason}${age}`),
    ),
    element('p', 'says', says),
    element('p', 'next', `What to do: ${next} `, element('span', 'faint', docs)),
  );
}

function drawKind(
  { kind, objects, isCut }: ShownState['kinds'][number],
  nowMs: number,
  open: ReadonlySet<string | null>,
): readonly HTMLElement[] {
  if (objects.length === 0) return [];
  const drawnObjects = objects.map((object) => {
    const key = `${kind} ${nameOf(object)}`;
    const details = drawObject(object, nowMs);
    details.setAttribute('data-key', key);
    details.toggleAttribute('open', open.has(key));
    return details;
  });
  const more = isCut ? [element('p', 'faint', 'and more, which are not shown')] : [];
  return [element('h2', '', `${kind} (${objects.length})`), ...drawnObjects, ...more];
}

function drawObject(object: ShownObject, nowMs: number): HTMLElement {
  const { health, facts, conditions, plan, members = [], created } = object;
  const short = facts.map(([label, text]) => `${label} ${text}`).join(', ');
  return element(
    'details',
    health,
    element(
      'summary',
      '',
      element('span', 'tone', health),
      ` ${nameOf(object)} `,
      element('span', 'faint', short),
    ),
    ...(plan === undefined
      ? []
      : [
          element('p', '', `Next: ${plan.next}`),
          ...(plan.waitsFor === '' ? [] : [element('p', '', `It waits: ${plan.waitsFor}`)]),
        ]),
    table(
      conditions.map(({ type, status, reason, message, since }) => [
        type,
        status,
        reason,
        message,
        ageOf(since, nowMs),
      ]),
    ),
    table(members),
    element('p', 'faint', `made ${ageOf(created, nowMs)} ago`),
  );
}

function table(rows: readonly (readonly string[])[]): HTMLElement {
  const lines = rows.map((cells) =>
    element('tr', '', ...cells.map((cell) => element('td', '', cell))),
  );
  return element('table', '', ...lines);
}
