// Reads the state of a takeover: of an EtcdCluster the legacy object with what its operator left
// for it, its members' own word, the operator, the Secrets that matter, and how the new EtcdCluster
// would be stored; of a NatsCluster by nats/observe. Writes nothing.
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Observation } from '../../shared/stateful/keeping.ts';
import type { AnyState } from './any-state.ts';
import { askMembers } from './ask-members.ts';
import type { Deps } from './deps.ts';
import { findLeft } from './find-left.ts';
import { findLed } from './find-led.ts';
import { findOperators } from './find-operators.ts';
import { findOthers } from './find-others.ts';
import { joins } from './join/mode.ts';
import { observeJoining } from './join/observe-work.ts';
import type { LegacyEtcd } from './legacy.ts';
import { operatorOf } from './legacy/operators.ts';
import { makerOf } from './nats/made/makers.ts';
import { observeNats } from './nats/observe.ts';
import type { Takeover } from './object.ts';
import { canAsk } from './refuse-secrets.ts';
import { observeWork } from './observe-work.ts';
import { planSecretsOf, readSecrets, workSecretsOf } from './read-secrets.ts';
import { isAtWork, isOver, isUndoing } from './records.ts';
import type { State } from './state.ts';
import { findTaken } from './taken.ts';
import { leadToCluster } from './steps.ts';
import { readTarget } from './target.ts';
import { tryLead } from './try-lead.ts';
import { wipes } from './wipe/mode.ts';
import { observeWiping } from './wipe/observe-work.ts';

type Observed = Pick<Deps, 'kube' | 'clock'> & {
  /** Members are asked through it; nobody asks them without. */
  readonly door: Deps['door'] | undefined;
};

export async function observe(
  { kube, clock, door }: Observed,
  takeover: Takeover,
  signal: AbortSignal,
): Promise<Observation<AnyState>> {
  const nowMs = clock.nowMs();
  if (isOver(takeover)) {
    const state = { ...NOTHING_FOUND, takeover, nowMs, isKindKnown: true };
    return { state, isRemembered: false };
  }
  const { object, isKindKnown } = await readLegacy(kube, takeover, signal);
  if (takeover.spec.legacy.kind !== 'EtcdCluster') {
    const bare = { takeover, nowMs, isKindKnown };
    return { state: await observeNats(kube, door, bare, object, signal), isRemembered: false };
  }
  const state = { ...NOTHING_FOUND, takeover, nowMs, isKindKnown };
  if (object === null) {
    const { work } = takeover.status;
    const client = work && (await findLed(kube, takeover.namespace, work, signal));
    const gone = { ...state, client };
    return { state: await observedWork({ kube, clock, door, signal }, gone), isRemembered: false };
  }
  const legacy = operatorOf(takeover.spec.legacy).legacyOf(object);
  const known = (takeover.status.work?.claims ?? []).map(({ name }) => name);
  const left = await findLeft(kube, legacy, known, signal);
  const operators = await findOperators(kube, takeover, signal);
  const found = { ...state, legacy, ...left, ...operators };
  const planned = isAtWork(takeover)
    ? { secrets: await readSecrets(kube, legacy.namespace, workSecretsOf(legacy), signal) }
    : await readForPlan(kube, found, legacy, signal);
  const toAsk = { ...found, ...planned };
  const about = { legacy, secrets: toAsk.secrets, pods: left.pods, canAsk: canAsk(toAsk) };
  // A plan that gives the data up is carried out whoever answers.
  const isSilent = wipes({ takeover }) && isAtWork(takeover);
  const members = isSilent ? undefined : door && (await askMembers(door.ask, about, signal));
  const status = { work: { legacyUid: legacy.uid } };
  const leadRefused =
    door &&
    (await tryLead(kube, takeover, left.client, async (dry, client) =>
      leadToCluster(dry, { ...takeover, status }, { legacy, client }, signal),
    ));
  const seen = { ...found, ...planned, members, leadRefused };
  return { state: await observedWork({ kube, clock, door, signal }, seen), isRemembered: false };
}

/** A plan that was confirmed is not made anew. */
async function readForPlan(
  kube: KubeClient,
  { takeover }: State,
  legacy: LegacyEtcd,
  signal: AbortSignal,
) {
  const target = await readTarget(kube, takeover, legacy, signal);
  const names = planSecretsOf(legacy, target);
  const secrets = await readSecrets(kube, legacy.namespace, names, signal);
  const taken = await findTaken(kube, takeover, signal);
  const others = await findOthers(kube, takeover, signal);
  return { target, secrets, taken, others };
}

interface Looking extends Observed {
  readonly signal: AbortSignal;
}

async function observedWork({ kube, clock, door, signal }: Looking, state: State): Promise<State> {
  const { takeover } = state;
  const { work } = takeover.status;
  if (!isAtWork(takeover) || work === undefined || door === undefined) return state;
  const wiping = wipes(state) ? await observeWiping({ kube, signal }, takeover, work) : undefined;
  const isUnmade = wiping !== undefined && wiping.cluster === undefined;
  const taken = isUndoing(work) || isUnmade ? await findTaken(kube, takeover, signal) : [];
  if (wiping !== undefined) return { ...state, taken, wiping };
  if (joins(state)) {
    return { ...state, taken, joining: await observeJoining({ kube, door, signal }, state, work) };
  }
  const seen = await observeWork({ kube, clock, door, signal }, takeover, work, state);
  return { ...state, taken, work: seen };
}

const NOTHING_FOUND = {
  legacy: undefined,
  pods: [],
  strangers: [],
  isCut: false,
  client: undefined,
  headless: undefined,
  statefulSet: undefined,
  peers: [],
  claims: [],
  secrets: new Map(),
  operators: [],
  isOperatorForbidden: false,
  leadRefused: undefined,
  members: undefined,
  target: { wanted: {}, spec: undefined },
  taken: [],
  others: [],
  work: undefined,
  joining: undefined,
  wiping: undefined,
} as const;

async function readLegacy(
  kube: KubeClient,
  { namespace, spec }: Takeover,
  signal: AbortSignal,
): Promise<{ readonly object: KubeObject | null; readonly isKindKnown: boolean }> {
  const { name, kind } = spec.legacy;
  const { ref } = kind === 'EtcdCluster' ? operatorOf(spec.legacy) : makerOf(spec.legacy);
  try {
    const object = await kube.get(ref, { namespace, name }, { signal });
    return { object, isKindKnown: true };
  } catch (error) {
    if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
    return { object: null, isKindKnown: false };
  }
}
