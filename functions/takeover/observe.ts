// Reads the state of a takeover: the legacy object with what its operator left for it, its members'
// own word, the operator, the Secrets that matter, and how the new EtcdCluster would be stored.
// Writes nothing.
import { LEGACY_ETCDS } from '../../shared/api/takeover.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Observation } from '../../shared/stateful/keeping.ts';
import { askMembers } from './ask-members.ts';
import type { Deps } from './deps.ts';
import { findLeft } from './find-left.ts';
import { findOperators } from './find-operators.ts';
import { legacyEtcdOf } from './legacy.ts';
import type { Takeover } from './object.ts';
import { readSecrets } from './read-secrets.ts';
import type { State } from './state.ts';
import { findTaken } from './taken.ts';
import { readTarget } from './target.ts';

type Observed = Pick<Deps, 'kube' | 'clock'> & {
  /** Members are asked by it; nobody asks them without. */
  readonly ask: Deps['ask'] | undefined;
};

export async function observe(
  { kube, clock, ask }: Observed,
  takeover: Takeover,
  signal: AbortSignal,
): Promise<Observation<State>> {
  const { object, isKindKnown } = await readLegacy(kube, takeover, signal);
  const state = { ...NOTHING_FOUND, takeover, nowMs: clock.nowMs(), isKindKnown };
  if (object === null) return { state, isRemembered: false };
  const legacy = legacyEtcdOf(object);
  const left = await findLeft(kube, legacy, signal);
  const operators = await findOperators(kube, takeover, signal);
  const target = await readTarget(kube, takeover, legacy, signal);
  const secrets = await readSecrets(kube, legacy, target, signal);
  const taken = await findTaken(kube, takeover, signal);
  const about = { legacy, secrets, pods: left.pods };
  const members = ask === undefined ? undefined : await askMembers(ask, about, signal);
  const found = { ...state, legacy, ...left, ...operators, target, secrets, taken, members };
  return { state: found, isRemembered: false };
}

const NOTHING_FOUND = {
  legacy: undefined,
  pods: [],
  strangers: [],
  isCut: false,
  client: undefined,
  headless: undefined,
  claims: [],
  secrets: new Map(),
  operators: [],
  isOperatorForbidden: false,
  members: undefined,
  target: { wanted: {}, spec: undefined },
  taken: [],
} as const;

async function readLegacy(
  kube: KubeClient,
  { namespace, spec }: Takeover,
  signal: AbortSignal,
): Promise<{ readonly object: KubeObject | null; readonly isKindKnown: boolean }> {
  const { name } = spec.legacy;
  try {
    const object = await kube.get(LEGACY_ETCDS, { namespace, name }, { signal });
    return { object, isKindKnown: true };
  } catch (error) {
    if (!isKubeError(error, 'KUBE_NOT_FOUND')) throw error;
    return { object: null, isKindKnown: false };
  }
}
