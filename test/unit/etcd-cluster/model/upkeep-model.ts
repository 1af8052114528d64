// Troubles of the databases of the model, and what its members do for their upkeep. It throws when
// one is copied without a record or while another one is away, when history is forgotten without a
// record, and when an alarm ends before its time.
import { failureFromTransport } from '../../../../shared/etcd/admin/failure.ts';
import { PODS } from '../../../../shared/stateful/parts.ts';
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import type { KubeModel } from '../../stateful/kube-model.ts';
import type { AlarmModel, DataModel, MemberModel, ProcessModel, RecordModel } from './shapes.ts';

const QUOTA_BYTES = 2 * 2 ** 30;
const COPY_TICKS = 2;

/** As much of the model as this needs. */
interface EtcdModel {
  readonly kube: KubeModel;
  readonly data: Map<string, DataModel>;
  readonly processes: ReadonlyMap<string, ProcessModel>;
  readonly voters: readonly MemberModel[];
  readonly leaderId: string | undefined;
  upkeep: UpkeepModel;
  objects(resource: string): readonly KubeObject[];
  status(): Record<string, RecordModel | undefined>;
  isRunning(memberId: string): boolean;
}

export interface UpkeepModel {
  readonly alarms: readonly AlarmModel[];
  /** The newest of the keys, and up to where they are forgotten. */
  readonly revision: number;
  readonly compactRevision: number;
}

export const EMPTY = {
  keysBytes: 1_000,
  historyBytes: 0,
  countedBytes: 0,
  sizeBytes: 1_000,
  isCorrupt: false,
  isUnfit: false,
  copying: 0,
  isAlone: false,
};

export const dataOf = ({ data }: EtcdModel, memberId: string): DataModel | undefined =>
  [...data.values()].find((one) => one.memberId === memberId);

function raise(model: EtcdModel, alarm: AlarmModel): void {
  const { upkeep } = model;
  model.upkeep = { ...upkeep, revision: upkeep.revision + 1_000, alarms: [alarm] };
}

const isCalledCorrupt = ({ upkeep }: EtcdModel): boolean =>
  upkeep.alarms.some(({ type }) => type === 'CORRUPT');

export function judgeRemoval(model: EtcdModel, { id, name }: MemberModel): void {
  if (!isCalledCorrupt(model) || dataOf(model, id)?.isCorrupt === true) return;
  throw new Error(`${name} was removed, and its data was right`);
}

/** A learner gets this from the leader. */
export function joined(model: EtcdModel, peer: string) {
  const from = dataOf(model, model.leaderId ?? '') ?? EMPTY;
  if (from.isCorrupt) throw new Error(`${peer} got its data from a corrupt member`);
  const { keysBytes, historyBytes } = from;
  return { ...EMPTY, keysBytes, historyBytes, sizeBytes: keysBytes + historyBytes };
}

export function tickUpkeep(model: EtcdModel): void {
  for (const data of model.data.values()) {
    if (data.copying === 0) continue;
    data.copying -= 1;
    if (data.copying > 0) continue;
    data.countedBytes = 0;
    data.sizeBytes = data.keysBytes + data.historyBytes;
  }
  runProbes(model);
}

/** With the alarm etcd says on every member that clients should stay away. */
function runProbes(model: EtcdModel): void {
  const wanted = isCalledCorrupt(model) ? 'False' : 'True';
  for (const { metadata, status } of model.objects('pods')) {
    if (!model.processes.has(metadata.name)) continue;
    const { conditions = [] } = (status ?? {}) as { conditions?: readonly { status: string }[] };
    if (conditions[0]?.status === wanted) continue;
    const at = { namespace: metadata.namespace ?? '', name: metadata.name };
    const now = { conditions: [{ type: 'Ready', status: wanted }] };
    model.kube.change(PODS, at, { status: now });
  }
}

/** Clients wrote so much, in shares of the quota, until one member raised the alarm. */
export function fill(model: EtcdModel, keys: number, history: number): void {
  for (const data of model.data.values()) {
    data.keysBytes = keys * QUOTA_BYTES;
    data.historyBytes = history * QUOTA_BYTES;
    data.sizeBytes = QUOTA_BYTES;
  }

  const [first] = model.voters;
  raise(model, { memberId: first?.id ?? '', type: 'NOSPACE' });
}

/** Clients deleted most of what they had. */
export function freeUp({ data }: Pick<EtcdModel, 'data'>): void {
  for (const one of data.values()) one.sizeBytes = QUOTA_BYTES / 2;
}

/** Its data is another one's now, and the leader blames somebody. */
export function corrupt(model: EtcdModel, peer: string, blamed: string): void {
  const idOf = (wanted: string) => model.voters.find(({ name }) => name === wanted)?.id ?? '';
  const data = dataOf(model, idOf(peer));
  if (data !== undefined) data.isCorrupt = true;
  raise(model, { memberId: idOf(blamed), type: 'CORRUPT' });
}

export const unanswered = (endpoint: string, isChange: boolean) =>
  failureFromTransport({ endpoint, path: '/v3', isChange }, new Error('took too long'));

export const isCopying = (model: EtcdModel, { claimUid }: ProcessModel): boolean =>
  (model.data.get(claimUid)?.copying ?? 0) > 0;

export function hashOf(model: EtcdModel, { memberId, claimUid }: ProcessModel) {
  const isCorrupt = model.data.get(claimUid)?.isCorrupt === true;
  const compactRevision = String(model.upkeep.compactRevision);
  return { header: { memberId }, hash: isCorrupt ? 8 : 7, compactRevision };
}

export function defragment(model: EtcdModel, process: ProcessModel | undefined): void {
  const data = model.data.get(process?.claimUid ?? '');
  if (process === undefined || data === undefined) return;
  const { memberId } = process;
  if (model.status()['defragmenting']?.memberId !== memberId) {
    throw new Error(`${memberId} was defragmented without a record`);
  }
  const others = model.voters.filter(({ id }) => id !== memberId);
  if (others.some(({ id }) => !model.isRunning(id))) throw new Error('another one was away');
  if ([...model.data.values()].some(({ copying }) => copying > 0)) throw new Error('two at a time');
  if (others.length > 0 && model.leaderId === memberId) throw new Error('the leader was blocked');
  data.copying = COPY_TICKS;
}

export function compact(model: EtcdModel, revision: string): void {
  if (model.status()['compacting']?.revision !== revision) {
    throw new Error(`history up to ${revision} was forgotten without a record`);
  }
  model.upkeep = { ...model.upkeep, compactRevision: Number(revision) };
  for (const data of model.data.values()) {
    data.countedBytes += data.historyBytes;
    data.historyBytes = 0;
  }
}

export function disarm(model: EtcdModel, { memberId, type }: AlarmModel): void {
  const held = model.voters.flatMap(({ id }) => dataOf(model, id) ?? []);
  const isFull = held.some(({ sizeBytes }) => sizeBytes >= QUOTA_BYTES * 0.9);
  if (type === 'NOSPACE' && isFull) throw new Error('the alarm ended while one was full');
  if (type === 'CORRUPT' && held.some(({ isCorrupt }) => isCorrupt)) {
    throw new Error('the alarm ended while one was corrupt');
  }
  const { alarms } = model.upkeep;
  const left = alarms.filter((one) => one.memberId !== memberId || one.type !== type);
  model.upkeep = { ...model.upkeep, alarms: left };
}
