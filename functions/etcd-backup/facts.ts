// The facts of a backup, in a small file beside it, which later readers go by. Fields are only
// ever added.
import { type BackupFacts, FACTS_KIND } from '../../shared/api/etcd-backup.ts';
import { Failure } from '../../shared/errors.ts';
import { hexOf } from '../../shared/etcd/admin/ids.ts';
import { isRecord } from '../../shared/kube/json.ts';
import { isOfSameBackup, isSealOf, type Mark, sealOf } from './mark.ts';
import { factsIn } from '../../shared/jobs/said.ts';
import { hiddenFacts, openedFacts } from '../../shared/sealed/facts.ts';

export interface Facts extends BackupFacts {
  readonly kind: typeof FACTS_KIND;
}

/** The member that it is from. */
export interface Origin {
  readonly version: string;
  /** In decimal, as the members are asked by. */
  readonly clusterId: string;
  readonly memberId: string;
  readonly alarms: readonly string[];
}

/** The answer of the member to the question for its hash. */
export type Confirmation = { readonly isHashConfirmed: true } | { readonly unconfirmed: string };

export interface Checked {
  readonly revision: bigint;
  readonly compactRevision: bigint;
  readonly keys: number;
  readonly hashKv: number;
  readonly confirmation: Confirmation;
}

export interface Received {
  readonly takenAtMs: number;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export function factsOf(origin: Origin, received: Received, checked: Checked): Facts {
  const { version, clusterId, memberId, alarms } = origin;
  const { revision, compactRevision, keys, hashKv, confirmation } = checked;
  return {
    kind: FACTS_KIND,
    takenAt: new Date(received.takenAtMs).toISOString(),
    sizeBytes: received.sizeBytes,
    sha256: received.sha256,
    revision: `${revision}`,
    compactRevision: `${compactRevision}`,
    keys,
    hashKv,
    isHashConfirmed: false,
    ...confirmation,
    etcdVersion: version,
    clusterId: hexOf(clusterId),
    memberId: hexOf(memberId),
    ...(alarms.length === 0 ? {} : { alarms }),
  };
}

/** Far more than we write, whatever others do. */
export const FACTS_BYTES_MAX = 16 * 1024;

export interface WrittenFacts {
  readonly facts: Facts;
  /** The mark of the run that wrote them, as it says. */
  readonly writer: string;
  /** Whether an attempt at the same backup has written them, and nobody else. */
  readonly isSealed: boolean;
}

export function textOfFacts(facts: Facts, mark: Mark): Buffer {
  const { kind, ...rest } = mark.key === undefined ? facts : hiddenFacts(facts, mark.key);
  const written = { kind, ...rest, writer: mark.run };
  const seal = sealOf(mark, JSON.stringify(written));
  return Buffer.from(`${JSON.stringify({ ...written, seal }, undefined, 2)}\n`);
}

/** Undefined for what our program has not written. */
export function writtenFactsIn(text: string, mark: Mark): WrittenFacts | undefined {
  const written = writtenIn(text, mark);
  if (written === undefined) return undefined;
  const { found, writer, isSealed } = written;
  const told = toldIn(found, mark, isSealed);
  return told && { facts: { kind: 'etcd-backup/v1', ...told }, writer, isSealed };
}

/** Whether an attempt at the same backup has written these facts; nothing is read of them. */
export const isOfAttempt = (text: string, mark: Mark): boolean =>
  writtenIn(text, mark)?.isSealed === true;

function writtenIn(text: string, mark: Mark) {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(found) || typeof found['writer'] !== 'string') return undefined;
  const { seal, ...written } = found;
  const writer = found['writer'];
  const isSealed = isOfSameBackup(mark, writer) && isSealOf(mark, JSON.stringify(written), seal);
  return { found, writer, isSealed };
}

/** With another key than that of the attempt before it fails: what that has stored is good. */
function toldIn(
  found: Readonly<Record<string, unknown>>,
  { key }: Mark,
  isOurs: boolean,
): BackupFacts | undefined {
  try {
    return factsIn(openedFacts(found, key, 'The backup of an earlier attempt'));
  } catch (error) {
    if (isOurs || !(error instanceof Failure)) throw error;
    return undefined;
  }
}
