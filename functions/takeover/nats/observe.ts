// Reads the state of a takeover of a NatsCluster: the legacy object with what its operator left for
// it, the word of its servers, and how the new NatsCluster would be stored; once a plan was
// confirmed what was made of it instead. Writes nothing.
import { NATS_CLUSTERS, type NatsClusterSpec } from '../../../shared/api/nats-cluster.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { KubeObject } from '../../../shared/kube/objects.ts';
import { CLAIMS, SECRETS, SERVICES, STATEFUL_SETS } from '../../../shared/stateful/parts.ts';
import { asStored } from '../as-stored.ts';
import type { Door } from '../door.ts';
import { findLed } from '../find-led.ts';
import { findOperators } from '../find-operators.ts';
import { findOthers } from '../find-others.ts';
import type { Takeover } from '../object.ts';
import { orForbidden } from '../read-secrets.ts';
import { isAtWork } from '../records.ts';
import { namesTaken } from '../taken.ts';
import { tryLead } from '../try-lead.ts';
import { askServers } from './ask-servers.ts';
import { natsCarriedOver, usersSecretOf } from './carry-over.ts';
import { findLeftNats } from './find-left.ts';
import { newSelectorOf } from './led.ts';
import type { LegacyNats } from './legacy.ts';
import { makerOf } from './made/makers.ts';
import { observeNatsWork } from './observe-work.ts';
import { natsClusterManifest } from './render.ts';
import { configOf, type FoundUsers, type NatsState } from './state.ts';
import { tryLeave } from './try-leave.ts';

/** A NatsCluster has as many servers at most, and each a claim. */
const SERVERS_MAX = 9;

type Asking = Pick<Door, 'monitor' | 'routes' | 'accounts'>;
type Bare = Pick<NatsState, 'takeover' | 'nowMs' | 'isKindKnown'>;

export async function observeNats(
  kube: KubeClient,
  door: Asking | undefined,
  bare: Bare,
  object: KubeObject | null,
  signal: AbortSignal,
): Promise<NatsState> {
  const { takeover } = bare;
  const found =
    object === null
      ? { ...NOTHING_FOUND, ...bare, client: await findLedNats(kube, takeover, signal) }
      : await observeLegacy(
          kube,
          door,
          bare,
          makerOf(takeover.spec.legacy).legacyOf(object),
          signal,
        );
  if (door === undefined || !isAtWork(takeover)) return found;
  const { work } = takeover.status;
  const isBack = work?.rollingBackAt !== undefined;
  return {
    ...found,
    users: await readUsers(kube, takeover, signal),
    taken: isBack ? await findTakenNats(kube, takeover, signal) : [],
    work: await observeNatsWork(kube, door, found, signal),
    leaveRefused: await tryLeave(kube, found, signal),
  };
}

async function observeLegacy(
  kube: KubeClient,
  door: Asking | undefined,
  bare: Bare,
  legacy: LegacyNats,
  signal: AbortSignal,
): Promise<NatsState> {
  const { takeover } = bare;
  const maker = makerOf(takeover.spec.legacy);
  const left = await findLeftNats(kube, maker, legacy, signal);
  const spec = natsCarriedOver(legacy, configOf(left), takeover.spec.into);
  const found = {
    ...NOTHING_FOUND,
    ...bare,
    legacy,
    ...left,
    ...(await findOperators(kube, takeover, signal)),
    servers: door && (await askServers(door.monitor, left.pods, signal)),
    target: { wanted: spec, spec: undefined },
  };
  const selector = newSelectorOf(takeover);
  const status = { work: { legacyUid: legacy.uid } };
  const leadRefused =
    door &&
    (await tryLead(kube, takeover, left.client, async (dry, service) =>
      maker.leadToNew(dry, { ...takeover, status }, { service, selector }, signal),
    ));
  // A plan that was confirmed is not made anew.
  if (isAtWork(takeover)) return { ...found, leadRefused };
  const manifest = natsClusterManifest(takeover, spec);
  return {
    ...found,
    leadRefused,
    target: await asStored<NatsClusterSpec>(kube, { ref: NATS_CLUSTERS, manifest }, signal),
    users: await readUsers(kube, takeover, signal),
    taken: await findTakenNats(kube, takeover, signal),
    others: await findOthers(kube, takeover, signal),
  };
}

async function findLedNats(kube: KubeClient, takeover: Takeover, signal: AbortSignal) {
  const { namespace, status } = takeover;
  return status.work && (await findLed(kube, namespace, status.work, signal));
}

/** Whether it is there, and whose it is; nothing of what is in it. */
async function readUsers(
  kube: KubeClient,
  { namespace, spec }: Takeover,
  signal: AbortSignal,
): Promise<FoundUsers> {
  const target = { namespace, name: usersSecretOf(spec.into) };
  const read = kube.get(SECRETS, target, { metadataOnly: true, signal });
  const object = await orForbidden(read);
  if (object === undefined) return { is: 'forbidden', owners: [] };
  if (object === null) return { is: 'missing', owners: [] };
  const { ownerReferences = [] } = object.metadata;
  return { is: 'found', owners: ownerReferences.map(({ uid }) => uid) };
}

const NOTHING_FOUND: Omit<NatsState, keyof Bare> = {
  legacy: undefined,
  pods: [],
  strangers: [],
  isCut: false,
  client: undefined,
  routes: undefined,
  config: { is: 'missing' },
  operators: [],
  isOperatorForbidden: false,
  leadRefused: undefined,
  servers: undefined,
  target: { wanted: {}, spec: undefined },
  taken: [],
  others: [],
  users: { is: 'missing', owners: [] },
  work: undefined,
  leaveRefused: undefined,
};

function findTakenNats(
  kube: KubeClient,
  { namespace, spec: { into } }: Takeover,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { name } = into;
  const claims = Array.from({ length: SERVERS_MAX }, (_, at) => `data-${name}-${at}`);
  const all = [
    { ref: NATS_CLUSTERS, kind: 'NatsCluster', name },
    { ref: SERVICES, kind: 'Service', name },
    { ref: SERVICES, kind: 'Service', name: `${name}-headless` },
    { ref: STATEFUL_SETS, kind: 'StatefulSet', name },
    ...claims.map((claim) => ({ ref: CLAIMS, kind: 'claim', name: claim })),
  ];
  return namesTaken(kube, namespace, all, signal);
}
