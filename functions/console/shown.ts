// An object and the whole answer as the page shows them: conditions, plan, members, a few facts,
// and its health. Bounded in bytes, whatever stands in the objects. Pure.
import { cut } from '../../shared/cut.ts';
import { conditionsOf } from '../../shared/kube/conditions.ts';
import { isRecord } from '../../shared/kube/json.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Problem, Severity, ShownObject, ShownState } from './answers.ts';
import { decide, staleIn } from './decide.ts';
import { fieldOf, textAt } from './field-of.ts';
import { SEVERITIES } from './kinds.ts';
import type { KindObservation, Observation } from './observe.ts';

const PROBLEMS_MAX = 200;
const CONDITIONS_MAX = 12;
const MEMBERS_MAX = 15;
const FACT_BYTES_MAX = 300;
const MESSAGE_BYTES_MAX = 1_000;
/** A person reads no more, and a browser draws as much at once. */
const OBJECTS_BYTES_MAX = 2 * 1024 * 1024;

export function shownState(observation: Observation): ShownState {
  const { nowMs, kinds, replica } = observation;
  const problems = decide(observation);
  const room = new Room(OBJECTS_BYTES_MAX);
  const worst = worstByObject(problems);
  return {
    now: new Date(nowMs).toISOString(),
    problems: problems.slice(0, PROBLEMS_MAX),
    problemsLeft: Math.max(0, problems.length - PROBLEMS_MAX),
    kinds: kinds.map((one) => {
      const { kind, docs } = one.shown;
      const stale = staleIn(one, nowMs);
      const healthOf = (object: KubeObject): ShownObject['health'] =>
        worst.get(keyOf(kind, object.metadata)) ?? (stale.isStale(object) ? 'unknown' : 'fine');
      const all = one.objects.map((object) => shownObject(one, object, healthOf(object)));
      const objects = all.filter((object) => room.take(object));
      return { kind, docs, objects, isCut: one.isCut || objects.length < all.length };
    }),
    feed: {
      phase: replica.phase,
      version: replica.version,
      isStale: replica.isStale === true,
    },
  };
}

class Room {
  #bytes: number;

  constructor(bytesMax: number) {
    this.#bytes = bytesMax;
  }

  /** Once one did not fit, none does: what is shown is a beginning. */
  take(object: ShownObject): boolean {
    this.#bytes -= this.#bytes < 0 ? 0 : Buffer.byteLength(JSON.stringify(object));
    return this.#bytes >= 0;
  }
}

interface Name {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

const keyOf = (kind: string, { namespace = '', name = '' }: Name): string =>
  `${kind} ${namespace}/${name}`;

function worstByObject(problems: readonly Problem[]): ReadonlyMap<string, Severity> {
  const worst = new Map<string, Severity>();
  for (const problem of problems) {
    const key = keyOf(problem.kind, problem);
    const before = worst.get(key) ?? problem.severity;
    const isWorse = SEVERITIES.indexOf(problem.severity) < SEVERITIES.indexOf(before);
    worst.set(key, isWorse ? problem.severity : before);
  }
  return worst;
}

function shownObject(
  { shown }: KindObservation,
  object: KubeObject,
  health: ShownObject['health'],
): ShownObject {
  const { namespace, name, creationTimestamp = '' } = object.metadata;
  const facts = shown.facts
    .map(([label, path]) => [label, cut(textAt(object, path), FACT_BYTES_MAX)] as const)
    .filter(([, text]) => text !== '');
  const next = textAt(object, 'status.plan.next');
  const waitsFor = textAt(object, 'status.plan.waitsFor');
  const members = shown.members === undefined ? [] : membersOf(object, shown.members);
  return {
    ...(namespace === undefined ? {} : { namespace }),
    name,
    health,
    created: creationTimestamp,
    conditions: conditionsOf(object)
      .slice(0, CONDITIONS_MAX)
      .map((one) => ({
        type: shortly(one.type),
        status: shortly(one.status),
        reason: shortly(one.reason),
        message: long(one.message),
        since: shortly(one.lastTransitionTime),
      })),
    facts,
    ...(next === '' ? {} : { plan: { next: long(next), waitsFor: long(waitsFor) } }),
    ...(members.length === 0 ? {} : { members }),
  };
}

const shortly = (text: unknown): string => cut(String(text), FACT_BYTES_MAX);
const long = (text: string): string => cut(text, MESSAGE_BYTES_MAX);

/** Name, role, version, and how it is. */
function membersOf(object: KubeObject, field: string): readonly (readonly string[])[] {
  const members = fieldOf(object, `status.${field}`);
  if (!Array.isArray(members)) return [];
  return members
    .slice(0, MEMBERS_MAX)
    .filter((one: unknown) => isRecord(one))
    .map((one) => {
      const of = (path: string): string => shortly(textAt(one, path));
      const isReady = one['ready'] === true || (one['ready'] === undefined && of('silent') === '');
      const isNew = one['upToDate'] !== false;
      const state = [isReady ? 'ready' : 'not ready', ...(isNew ? [] : ['outdated'])].join(', ');
      const role = of('role') || (one['leads'] === true ? 'Leader' : '');
      return [of('name') || of('pod'), role, of('version'), state];
    });
}
