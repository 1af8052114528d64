// May this upgrade be applied? Compares new definitions with those that are there, asks a scratch
// server what it says to them, and holds every object that exists against them.
import { isKubeError } from '../../../shared/kube/errors.ts';
import { Checker } from './checker.ts';
import { compareCrds, compareWithOthers, type Stored } from './compare.ts';
import { type Crd, storageVersionOf } from './crd.ts';
import { Held } from './held.ts';
import { InFlight } from './in-flight.ts';
import { byWeight, type Reason, type Verdict, verdictOf, verdictOver } from './reason.ts';
import type { Scratch } from './scratch.ts';
import { webhookReasons } from './webhook.ts';
import type { Found, World, WorldOrigin } from './world.ts';

export interface CrdAnswer {
  readonly name: string;
  readonly verdict: Verdict;
  /** Whether there is none of this name yet. */
  readonly isNew: boolean;
  readonly objects: number;
  /** How many of them were held against the new definition. */
  readonly checked: number;
  /** The heaviest first. */
  readonly reasons: readonly Reason[];
}

export interface AgainstAnswer {
  readonly of: WorldOrigin;
  /** The version of the server that tried it; absent when there was none. */
  readonly triedOn?: string;
  readonly verdict: Verdict;
  /** One sentence each: what speaks against it, and what could not be told. */
  readonly findings: readonly string[];
  readonly crds: readonly CrdAnswer[];
}

export interface AgainstOptions {
  readonly examplesMax?: number | undefined;
  readonly onProgress?: ((checked: number, of: number) => void) | undefined;
}

/** Or why there is none. */
export type ScratchOrNot = Scratch | { readonly lacks: string };

/** Sentences of the API server are longer than names, and more of them are a list. */
const EXAMPLES_MAX = 5;
/** As many as the client has connections, and some that wait for one. */
const IN_FLIGHT_MAX = 16;
/** Definitions that are put on the scratch server at once: each waits there for seconds. */
const DEFINITIONS_AT_ONCE = 32;

/** One definition of the upgrade, and all that is found out about it. */
interface Case {
  readonly to: Crd;
  readonly from: Crd | undefined;
  readonly stored: Stored | undefined;
  readonly held: Held;
  readonly reasons: Reason[];
  checker?: Checker;
}

export async function auditAgainst(
  crds: readonly Crd[],
  world: World,
  scratch: ScratchOrNot,
  options: AgainstOptions,
): Promise<AgainstAnswer> {
  const present = await world.read(crds);
  const cases = crds.map((to) => caseOf(to, present.crds.get(to.name), options));
  for (const { to, reasons } of cases) reasons.push(...compareWithOthers(to, present.others));
  if ('lacks' in scratch) for (const one of cases) one.reasons.push(...untried(one, scratch.lacks));
  else await tryOn(scratch, cases);
  await holdObjects(world, cases, options);
  for (const one of cases) one.reasons.push(...(await webhookReasons(world, one)));
  const answers = cases.map(answerOf);
  const findings = answers.flatMap(({ name, reasons }) =>
    reasons.filter(({ weight }) => weight !== 'note').map(({ says }) => `${name}: ${says}`),
  );
  return {
    of: world.of,
    ...('lacks' in scratch ? {} : { triedOn: scratch.version }),
    verdict: verdictOver(answers.map(({ verdict }) => verdict)),
    findings,
    crds: answers,
  };
}

function caseOf(to: Crd, found: Found | undefined, { examplesMax }: AgainstOptions): Case {
  const held = new Held(examplesMax ?? EXAMPLES_MAX);
  if (found === undefined) return { to, from: undefined, stored: undefined, held, reasons: [] };
  if ('unreadable' in found) {
    const says = `The existing definition cannot be read (${found.unreadable}): nothing is known.`;
    const reasons: Reason[] = [{ what: 'not-checked', weight: 'unknown', says, commands: [] }];
    return { to, from: undefined, stored: undefined, held, reasons };
  }
  const { crd: from, stored } = found;
  return { to, from, stored, held, reasons: [...compareCrds({ from, to, stored })] };
}

function untried({ stored, from }: Case, lacks: string): readonly Reason[] {
  const says = `The new definition was tried on no server, because ${lacks}: `;
  const objects = stored?.objects ?? 0;
  const rest =
    from === undefined || objects === 0
      ? 'whether an API server takes it is not known.'
      : `what its schema says of ${objects} objects is not known.`;
  return [{ what: 'not-checked', weight: 'unknown', says: `${says}${rest}`, commands: [] }];
}

async function tryOn(scratch: Scratch, cases: readonly Case[]): Promise<void> {
  const work = new InFlight(DEFINITIONS_AT_ONCE);
  for (const one of cases) await work.add(() => tryOne(scratch, one));
  await work.end();
}

async function tryOne(scratch: Scratch, one: Case): Promise<void> {
  const { from, to, stored, held, reasons } = one;
  if (from === undefined) {
    const refusal = await scratch.refusalOfNew(to);
    if (refusal !== undefined) reasons.push(refused(refusal));
    return;
  }
  const checker = new Checker(from, to, held, scratch);
  const isHeld = (stored?.objects ?? 0) > 0 && from.scope === to.scope;
  const [{ refusal, doubt }, isPrepared] = await Promise.all([
    scratch.answerToUpdate(from, to),
    isHeld && isTaken(checker),
  ]);
  if (refusal !== undefined) reasons.push(refused(refusal));
  if (doubt !== undefined) {
    const says = `The existing definition is refused today (${doubt}): its schema is left out.`;
    reasons.push({ what: 'refused-already', weight: 'note', says, commands: [] });
  }
  if (isPrepared) one.checker = checker;
  else if (isHeld) {
    const says = 'No object was held against the new schema, since no API server takes it.';
    reasons.push({ what: 'not-checked', weight: 'unknown', says, commands: [] });
  }
}

async function isTaken(checker: Checker): Promise<boolean> {
  try {
    await checker.prepare();
    return true;
  } catch (error) {
    if (isKubeError(error, 'KUBE_INVALID', 'KUBE_BAD_REQUEST')) return false;
    throw error;
  }
}

const refused = (sentence: string): Reason => ({
  what: 'update-refused',
  weight: 'unsafe',
  says: `The API server refuses the new definition: ${sentence}`,
  commands: [],
});

async function holdObjects(
  world: World,
  cases: readonly Case[],
  { onProgress }: AgainstOptions,
): Promise<void> {
  const checkers = new Map(
    cases.flatMap(({ checker }) => (checker === undefined ? [] : [[checker.from.name, checker]])),
  );
  if (checkers.size === 0) return;
  const total = cases.reduce((sum, { checker, stored }) => {
    return checker === undefined ? sum : sum + (stored?.objects ?? 0);
  }, 0);
  let done = 0;
  const work = new InFlight(IN_FLIGHT_MAX);
  const from = [...checkers.values()].map((checker) => checker.from);
  const to = new Map([...checkers].map(([name, checker]) => [name, checker.to]));
  await world.objects(from, to, {
    object: ({ name }, object) =>
      work.add(async () => {
        await checkers.get(name)?.take(object);
        done += 1;
        onProgress?.(done, total);
      }),
    unread: ({ name }, object, why) => checkers.get(name)?.held.unread(object, why),
  });
  await work.end();
}

function answerOf({ to, from, stored, held, reasons }: Case): CrdAnswer {
  const all = byWeight([...reasons, ...held.reasons(to.name, storageVersionOf(to))]);
  return {
    name: to.name,
    verdict: verdictOf(all.map(({ weight }) => weight)),
    isNew: from === undefined,
    objects: stored?.objects ?? 0,
    checked: held.checked,
    reasons: all,
  };
}
