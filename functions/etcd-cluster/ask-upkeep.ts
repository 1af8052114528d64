// Asks members what is too dear to be asked each time: while an alarm stands, or a database is
// being copied. Hashes and counts are kept a while, since every look at a cluster in trouble would
// make each member read its whole database.
import type { DefragmentingMember } from '../../shared/api/etcd-cluster.ts';
import { isEtcdFailure } from '../../shared/etcd/admin/failure.ts';
import type { EtcdAdmin } from '../../shared/etcd/admin.ts';
import { Failure } from '../../shared/errors.ts';
import { cut } from '../../shared/cut.ts';
import { corruptAlarms } from './corruption.ts';
import { endpointOf, withMembers } from './connect.ts';
import type { Deps } from './deps.ts';
import type { Hash, Hashes, Upkeep, UpkeepMemory } from './etcd-state.ts';
import { describeLargest } from './largest.ts';
import { fullMembers } from './space.ts';
import { alarmsOf, commonRevision, namesOf, type State, votersOf } from './state.ts';

/** A read takes milliseconds; a member that copies its database answers none. */
const PROBE_MS = 1_000;
/** Two gigabytes are read in some seconds. */
const HASH_MS = 10_000;
const HASHES_FRESH_MS = 30_000;
const LARGEST_FRESH_MS = 300_000;
const COUNT_MS = 3_000;
/**
 * A copy that takes longer than we wait is not told to be done, and one of a database that is full
 * of keys is no smaller. A member that died in the middle of the first is asked a second time.
 */
const ASKED_TIMES_MAX = 2;
const WHY_BYTES_MAX = 200;

type UpkeepDeps = Pick<Deps, 'openAdmin'>;

interface Asked {
  readonly admin: EtcdAdmin;
  readonly state: State;
  readonly memory: UpkeepMemory;
  readonly signal: AbortSignal;
}

export async function askUpkeep(
  { openAdmin }: UpkeepDeps,
  state: State,
  memory: UpkeepMemory,
  signal: AbortSignal,
): Promise<Upkeep> {
  const { cluster, pods, parts } = state;
  const { defragmenting } = cluster.status;
  const isCorrupt = corruptAlarms(state).length > 0;
  const isFull = alarmsOf(state, 'NOSPACE').length > 0;
  if (!isCorrupt) delete memory.hashes;
  if (!isFull) delete memory.largest;
  const { access } = parts;
  const isNeeded = isCorrupt || isFull || defragmenting !== undefined;
  if (access === undefined || !isNeeded) return {};
  const names = namesOf(state, votersOf(state));
  return withMembers(openAdmin, { cluster, pods, access }, names, async (admin) => {
    const asked = { admin, state, memory, signal };
    return {
      ...(defragmenting === undefined ? {} : await askCopy(asked, defragmenting)),
      ...(isCorrupt ? { hashes: await freshHashes(asked, names) } : {}),
      ...(isFull ? await askSpace(asked) : {}),
    };
  });
}

/** How far the recorded copy is. */
async function askCopy(
  asked: Asked,
  { peer, memberId, since }: DefragmentingMember,
): Promise<Pick<Upkeep, 'busy' | 'isDefragmented'>> {
  const found = await findBusy(asked, peer);
  const { copy } = asked.memory;
  const isIts = copy?.of.memberId === memberId && copy.of.since === since;
  const isDefragmented = isIts && (copy.isTold || copy.asked >= ASKED_TIMES_MAX);
  return found.busy === undefined && isDefragmented ? { isDefragmented } : found;
}

/** A read that no other member has to confirm waits for the copy alone. */
async function findBusy(
  { admin, state, signal }: Asked,
  peer: string,
): Promise<Pick<Upkeep, 'busy'>> {
  const endpoint = endpointOf(state.cluster, state.pods, peer);
  if (endpoint === undefined) return {};
  try {
    await admin.at(endpoint).keys.get('\0', { isSerializable: true, timeoutMs: PROBE_MS, signal });
    return {};
  } catch (error) {
    signal.throwIfAborted();
    if (!isEtcdFailure(error)) throw error;
    return error.reason === 'NO_ANSWER' || error.reason === 'TIMEOUT' ? { busy: peer } : {};
  }
}

async function freshHashes(asked: Asked, names: readonly string[]): Promise<Hashes> {
  const { state, memory } = asked;
  const revision = String(commonRevision(state));
  const { hashes } = memory;
  const isFresh = hashes !== undefined && state.nowMs - hashes.atMs < HASHES_FRESH_MS;
  if (isFresh && hashes.value.revision === revision) return hashes.value;
  const value = await hashesAt(asked, names, revision);
  memory.hashes = { atMs: state.nowMs, value };
  return value;
}

async function hashesAt(
  { admin, state, signal }: Asked,
  names: readonly string[],
  revision: string,
): Promise<Hashes> {
  const told = new Map<string, Hash>();
  const missing = new Map<string, string>();
  const ask = async (name: string): Promise<void> => {
    const endpoint = endpointOf(state.cluster, state.pods, name);
    if (endpoint === undefined) return;
    const own = state.etcd.answers.get(name)?.memberId;
    try {
      const options = { timeoutMs: HASH_MS, signal };
      const { header, hash, compactRevision } = await admin.at(endpoint).hashKv(revision, options);
      if (header.memberId === own) told.set(name, { hash, compactRevision });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Failure)) throw error;
      missing.set(name, cut(error.message, WHY_BYTES_MAX));
    }
  };
  await Promise.all(names.map(ask));
  return { revision, told, missing };
}

async function askSpace(asked: Asked): Promise<Pick<Upkeep, 'isCompacted' | 'largest'>> {
  const { admin, state, signal } = asked;
  const { compacting } = state.cluster.status;
  if (compacting === undefined) return {};
  const options = { timeoutMs: COUNT_MS, signal };
  const before = String(BigInt(compacting.revision) - 1n);
  const isCompacted = await orNothing(signal, admin.keys.isForgotten(before, options));
  if (isCompacted === undefined) return {};
  if (!isCompacted || fullMembers(state).length === 0) return { isCompacted };
  const largest = await freshLargest(asked);
  return { isCompacted, ...(largest === undefined ? {} : { largest }) };
}

async function freshLargest({ admin, state, memory, signal }: Asked): Promise<string | undefined> {
  const { largest } = memory;
  if (largest !== undefined && state.nowMs - largest.atMs < LARGEST_FRESH_MS) return largest.value;
  const options = { timeoutMs: COUNT_MS, signal };
  const value = await orNothing(signal, describeLargest(admin.keys, options));
  if (value !== undefined) memory.largest = { atMs: state.nowMs, value };
  return value;
}

/** The members are in trouble: what they do not answer is asked again. */
async function orNothing<Told>(signal: AbortSignal, asking: Promise<Told>) {
  try {
    return await asking;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    return undefined;
  }
}
