// Reads the state of a cluster: peers, pods and the answers of the members every time; its claims,
// Secrets and other parts only after a change or a while, since a cluster at rest should cost next
// to nothing.
import { claimName } from '../../shared/api/etcd-names.ts';
import {
  BORN_ANNOTATION,
  CLUSTER_ID_ANNOTATION,
  ETCD_PEERS,
  type EtcdPeerSpec,
  type EtcdPeerStatus,
  VERSION_ANNOTATION,
} from '../../shared/api/etcd-peer.ts';
import { hashOf } from '../../shared/hash.ts';
import { selectorText } from '../../shared/kube/label-selector.ts';
import { isEnding, type KubeObject } from '../../shared/kube/objects.ts';
import { ownObjectOf } from '../../shared/kube/own-object.ts';
import { readClaims } from '../../shared/stateful/claims.ts';
import type { Observation } from '../../shared/stateful/keeping.ts';
import { findLost } from '../../shared/stateful/lost.ts';
import { rememberedParts, wasReady } from '../../shared/stateful/memory.ts';
import { CLAIMS, isOurs } from '../../shared/stateful/parts.ts';
import { findPending } from '../../shared/stateful/pending.ts';
import { readPods } from '../../shared/stateful/pods.ts';
import { askMembers } from './ask-members.ts';
import { askUpkeep } from './ask-upkeep.ts';
import { observeBackups } from './backups/observe.ts';
import { backupsOf } from './backups/ready.ts';
import { type Cluster, peerNames, selectorOf } from './cluster.ts';
import type { Deps } from './deps.ts';
import { type Found, forgotten, isOtherPod, isThere } from './forgotten.ts';
import { legacyOf } from './joins.ts';
import { KEPT } from './leave.ts';
import { isPodCurrent, isRendered } from './outdated.ts';
import { areAsRead, type PartsDeps, readParts } from './parts.ts';
import { mayGoOf } from './render.ts';
import { findStrays } from './strays.ts';
import { type Parts, type Peer, type PeerClaim, podOf, type State } from './state.ts';
import type { Trusts } from './trust.ts';
import { versionText } from '../../shared/etcd/version.ts';

/** Anybody with rights in the namespace may label peers: pages bound memory. */
const PEERS_PER_PAGE = 100;

export async function observe(
  deps: Deps,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<Observation<State>> {
  const { kube, clock, openAdmin } = deps;
  const memory = deps.memoryOf(cluster.uid);
  const { namespace } = cluster;
  const selection = { namespace, labelSelector: selectorText(selectorOf(cluster)) };
  const peers = await readPeers(deps, cluster, signal);
  const pods = await readPods({ kube, clock }, selection, signal);
  const trusts = trustsOf(pods, peers);
  const { parts, isRemembered } = await partsOf(deps, cluster, { memory, trusts, signal });
  const claims = await claimsOf(deps, cluster, { peers, pods }, signal);
  const asked = { cluster, pods: pods.filter((pod) => !isOtherPod(pod, peers)), peers };
  const etcd = await askMembers({ openAdmin, memory }, asked, parts, signal);
  const nowMs = clock.nowMs();
  for (const name of etcd.answers.keys()) memory.contactMs.set(name, nowMs);
  const found = { kube, namespace, nowMs, signal };
  const owner = { ...OWNER, namespace };
  const lost = await findLost(found, pods, claims, claimOfPod);
  const pending = await findPending({ ...found, memory }, owner, pods, claims);
  const state: State = {
    cluster,
    nowMs,
    parts,
    peers,
    pods,
    claims,
    strays: await findStrays(deps, { cluster, parts, peers, pods, claims, etcd }, signal),
    lost: new Map([
      ...byPeer(lost),
      ...(await withoutClaim(found, peers, claims)),
      ...(await forgotten(found, parts, peers, pods)),
    ]),
    pending: byPeer(pending),
    etcd,
    backups: await observeBackups({ kube, nowMs, memory: memory.backups, signal }, cluster),
  };
  deps.backupGauges.show(cluster, backupsOf(state));
  const upkeep = await askUpkeep(deps, state, memory.upkeep, signal);
  return { state: { ...state, etcd: { ...etcd, upkeep } }, isRemembered };
}

/** A pod is called as its peer, with an ordinal of its own behind it. */
const peerOfPod = (pod: string): string => pod.replace(/-0$/, '');
const claimOfPod = (pod: string): string => claimName(peerOfPod(pod));
const byPeer = (found: ReadonlyMap<string, string>): ReadonlyMap<string, string> =>
  new Map([...found].map(([pod, why]) => [peerOfPod(pod), why]));

const OWNER = {
  kind: 'EtcdCluster',
  accessModeField: 'storage.accessMode',
  claimName: claimOfPod,
} as const;

const trustsOf =
  (pods: State['pods'], peers: readonly Peer[]): Trusts =>
  (hash) =>
    peers.every((peer) => {
      const isStarted = isRendered(peer) && isPodCurrent({ pods }, peer);
      const isKnown = isStarted && peer.spec.certificatesHash === hash;
      return isKnown || podOf({ pods }, peer.name) === undefined;
    });

async function partsOf(
  deps: Deps,
  cluster: Cluster,
  { memory, trusts, signal }: Pick<PartsDeps, 'memory' | 'trusts' | 'signal'>,
): Promise<{ readonly parts: Parts; readonly isRemembered: boolean }> {
  const { kube, clock } = deps;
  const partsDeps = { kube, nowMs: clock.nowMs(), signal, memory, trusts };
  const remembered = rememberedParts(memory, cluster, clock.nowMs());
  const isCurrent =
    remembered?.mayGo === mayGoOf(cluster) && remembered.legacy === legacyOf(cluster);
  if (remembered !== undefined && isCurrent && (await areAsRead(partsDeps, cluster, remembered))) {
    return { parts: remembered, isRemembered: true };
  }
  const parts = await readParts(partsDeps, cluster);
  deps.remember(cluster, parts);
  return { parts, isRemembered: false };
}

/**
 * A claim that is used is there as long as the pod that uses it, so those of a cluster at rest are
 * believed while no peer and no pod moves. While it is not Ready a claim may be what is waited for.
 */
async function claimsOf(
  deps: Deps,
  cluster: Cluster,
  { peers, pods }: Pick<State, 'peers' | 'pods'>,
  signal: AbortSignal,
): Promise<readonly PeerClaim[]> {
  const moving = [peers, pods].map((some) => some.map(({ resourceVersion }) => resourceVersion));
  const beside = hashOf(moving);
  const seen = wasReady(cluster) ? deps.memoryOf(cluster.uid).parts?.seen : undefined;
  if (seen?.beside === beside) return seen.claims;
  const claims = await readPeerClaims(deps, cluster, signal);
  deps.rememberClaims(cluster, { beside, claims });
  return claims;
}

async function readPeers(
  { kube }: Deps,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<readonly Peer[]> {
  const { namespace } = cluster;
  const peers: Peer[] = [];
  const labelSelector = selectorText(selectorOf(cluster));
  const options = { namespace, labelSelector, limit: PEERS_PER_PAGE, signal };
  for await (const { items } of kube.pages(ETCD_PEERS, options)) {
    peers.push(...items.map((one) => peerIn(one, cluster)));
  }
  return peers;
}

function peerIn(object: KubeObject, cluster: Cluster): Peer {
  const { name, uid, generation, spec, status } = ownObjectOf<EtcdPeerSpec, EtcdPeerStatus>(object);
  return {
    name,
    uid,
    resourceVersion: object.metadata.resourceVersion,
    generation,
    spec,
    status,
    isEnding: isEnding(object),
    isOurs: isOurs(object, cluster),
  };
}

/** By the names that peers give them: anybody may create claims and label them. */
async function readPeerClaims(
  { kube }: Deps,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<readonly PeerClaim[]> {
  const names = peerNames(cluster).map(claimName);
  const isOwn = (name: string): boolean => names.includes(name);
  const { namespace } = cluster;
  const labelSelector = selectorText(selectorOf(cluster));
  return readClaims({ kube, signal }, { namespace, labelSelector, isOwn }, ({ metadata }) => ({
    clusterId: idIn(metadata.annotations?.[CLUSTER_ID_ANNOTATION]),
    isKeptAside: metadata.annotations?.[CLUSTER_ID_ANNOTATION]?.startsWith(KEPT) === true,
    version: versionText(metadata.annotations?.[VERSION_ANNOTATION]),
    born: versionText(metadata.annotations?.[BORN_ANNOTATION]),
    resourceVersion: metadata.resourceVersion,
  }));
}

/** A claim that is kept aside has another mark, and so nobody's data. */
const idIn = (mark: string | undefined): string | undefined =>
  mark !== undefined && /^[0-9a-f]{1,16}$/.test(mark) ? mark : undefined;

/** A peer starts with its first claim and no other: an empty one would have forgotten its votes. */
async function withoutClaim(
  found: Found,
  peers: readonly Peer[],
  claims: readonly PeerClaim[],
): Promise<readonly (readonly [string, string])[]> {
  const gone: (readonly [string, string])[] = [];
  for (const { name, spec, status } of peers) {
    const { claimUid } = status;
    if (spec.storage.medium !== 'Volume' || claimUid === undefined) continue;
    if (claims.some(({ uid }) => uid === claimUid)) continue;
    if (await isThere(found, CLAIMS, claimName(name), claimUid)) continue;
    gone.push([name, `Claim ${claimName(name)} of ${name} is gone.`]);
  }
  return gone;
}
