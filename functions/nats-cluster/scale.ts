// More servers, and fewer. New ones count once they are current. A server that leaves is emptied
// first, recorded in the status, and ended; leave.ts goes on from there. Pure.
import type { Leaving } from '../../shared/api/nats-cluster.ts';
import { timestamp } from '../../shared/kube/timestamp.ts';
import { listed, waitFor } from '../../shared/stateful/decision.ts';
import { claimName, ordinalOf, serverName, serverNames } from './cluster.ts';
import type { Decision } from './decision.ts';
import { covers, blockersAround, blockersOf, nameOf, unseenBlockers } from './safety.ts';
import type { RenderedPart } from './render/manifests.ts';
import type { Group } from './nats-state.ts';
import { last, recordsOf, sizeOf, type State } from './state.ts';

export function scaleUp(state: State): Decision | undefined {
  const size = sizeOf(state.parts);
  const { replicas } = state.cluster.spec;
  if (size === undefined || size >= replicas) return undefined;
  const next = `Scale from ${size} to ${replicas} servers`;
  const reasons = blockersOf(state);
  if (reasons.length > 0) return waitFor(next, reasons);
  return scaleTo(state, replicas, next);
}

/**
 * Brings back servers that have claims and that no record takes away: somebody made the StatefulSet
 * smaller by hand. The others need them, so they would wait in vain.
 */
export function bringBack(state: State): Decision | undefined {
  const { cluster, parts } = state;
  const size = sizeOf(parts);
  if (size === undefined || cluster.status.leaving !== undefined) return undefined;
  // At size 0 no server is left to wait for them.
  const isThere = (server: string): boolean =>
    size === 0 ||
    parts.claims.some(({ name, isEnding }) => name === claimName(server) && !isEnding);
  const wanted = serverNames(cluster, cluster.spec.replicas).slice(size);
  const first = wanted.findIndex((server) => !isThere(server));
  const back = first === -1 ? wanted : wanted.slice(0, first);
  if (back.length === 0) return undefined;
  return scaleTo(state, size + back.length, `Bring back ${back.join(' and ')}`);
}

export function scaleDown(state: State): Decision | undefined {
  const size = sizeOf(state.parts);
  const { replicas } = state.cluster.spec;
  if (size === undefined || size <= replicas) return undefined;
  const server = last(state);
  const next = `Take ${server} away`;
  return refuse(state, next) ?? empty(state, server, next) ?? record(state, server, next);
}

/** Refuses while a stream has more replicas than there will be servers. */
function refuse(state: State, next: string): Decision | undefined {
  const { replicas, waive = [] } = state.cluster.spec;
  const wide = state.nats.groups.filter(
    (group) => group.replicas > replicas && !waive.some((one) => covers(one, group)),
  );
  if (wide.length === 0) return undefined;
  const names = wide.map((group) => `${describe(group)} has ${group.replicas} replicas`);
  const message =
    `With ${replicas} servers there is no place for all replicas: ${listed(names)}. Give them ` +
    'fewer, or keep the servers.';
  const blocker = { reason: 'ScaleDownRefused', message };
  return waitFor(next, [blocker], blocker);
}

const describe = ({ account, stream, consumer }: Group): string =>
  nameOf({ account, stream, ...(consumer === undefined ? {} : { consumer }) });

/** Moves one stream after the other to a server that stays. */
function empty(state: State, server: string, next: string): Decision | undefined {
  const reasons = [...blockersAround(state, server), ...unseenBlockers(state, server)];
  if (reasons.length > 0) return waitFor(next, reasons);
  const held = streamsOn(state, server);
  const [first] = held;
  if (first !== undefined) {
    const { account, stream } = first;
    const move = `Move ${nameOf({ account, stream })} off ${server}`;
    return { step: { type: 'move', account, stream, server }, next: move };
  }
  if (state.nats.meta?.leader !== server) return undefined;
  const to = serverName(state.cluster, 0);
  return { step: { type: 'step-down', from: server, to }, next: `Let ${server} step down` };
}

/** Consumers go with their stream; waived streams stay, and are lost. */
function streamsOn({ nats, cluster }: State, server: string): readonly Group[] {
  const { waive = [] } = cluster.spec;
  return nats.groups.filter(
    ({ account, stream, consumer, members }) =>
      consumer === undefined &&
      members.some((one) => one.server === server) &&
      !waive.some(
        (one) => one.consumer === undefined && one.account === account && one.stream === stream,
      ),
  );
}

/** Records its peer in the meta group and its claim before it is gone. */
function record(state: State, server: string, next: string): Decision | undefined {
  const { status } = state.cluster;
  if (status.leaving?.server === server) {
    return scaleTo(state, ordinalOf(server), next);
  }
  const peer = state.nats.meta?.peers.find((one) => one.server === server);
  const claim = state.parts.claims.find(({ name }) => name === claimName(server));
  const leaving: Leaving = {
    server,
    ...(peer === undefined ? {} : { peerId: peer.peerId }),
    ...(claim === undefined ? {} : { claim: claim.name, claimUid: claim.uid }),
    since: timestamp(state.nowMs),
  };
  return { step: { type: 'write-records', records: { ...recordsOf(state), leaving } }, next };
}

/** Applies the StatefulSet as rendered, with another number of servers. */
function scaleTo(state: State, size: number, next: string): Decision | undefined {
  const part = state.parts.rendered?.parts.find(({ key }) => key === 'statefulSet');
  // Without a rendered StatefulSet, apply-parts has decided already.
  if (part === undefined) return undefined;
  return { step: { type: 'apply', part: withSize(part, size) }, next };
}

function withSize(part: RenderedPart, size: number): RenderedPart {
  const { manifest } = part;
  // Every rendered StatefulSet has a spec.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const spec = { ...(manifest['spec'] as object), replicas: size };
  return { ...part, manifest: { ...manifest, spec } };
}
