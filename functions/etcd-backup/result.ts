// Reads the last words of a Job's pod. Anybody who may write pods in the namespace could have
// written them, so they are believed only in the form that our program gives them, and nothing is
// kept that is longer. Pure.
import type { BackupError, BackupFacts } from '../../shared/api/etcd-backup.ts';
import { cut } from '../../shared/cut.ts';
import { printable } from '../../shared/function/printable.ts';
import { isRecord } from '../../shared/kube/json.ts';

export type Result = { readonly facts: BackupFacts } | { readonly error: BackupError };

/** The kubelet keeps no more. */
const BYTES_MAX = 4_096;
const TEXT_BYTES_MAX = 1_000;
const ALARMS_MAX = 8;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const DECIMAL = /^\d{1,20}$/;
const ID = /^[0-9a-f]{1,16}$/;

/** Undefined for what our program would not have said of the backup of this name. */
export function resultIn(message: string, destination: string): Result | undefined {
  const said = parsed(message);
  if (said === undefined) return undefined;
  const { outcome, backup, facts, error } = said;
  if (outcome === 'failed') return isRecord(error) ? errorIn(error) : undefined;
  if (outcome !== 'done' || backup !== destination || !isRecord(facts)) return undefined;
  const found = factsIn(facts);
  return found === undefined ? undefined : { facts: found };
}

function parsed(message: string): Readonly<Record<string, unknown>> | undefined {
  if (Buffer.byteLength(message) > BYTES_MAX) return undefined;
  try {
    const said: unknown = JSON.parse(message);
    return isRecord(said) ? said : undefined;
  } catch {
    return undefined;
  }
}

function errorIn({ code, message }: Readonly<Record<string, unknown>>): Result | undefined {
  if (!matches(code, /^[A-Z][A-Z0-9_]{0,63}$/) || typeof message !== 'string') return undefined;
  return { error: { code, message: shown(message) } };
}

const shown = (text: string): string => cut(printable(text), TEXT_BYTES_MAX);

const matches = (value: unknown, form: RegExp): value is string =>
  typeof value === 'string' && form.test(value);

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

/** As our program writes them; undefined for anything else. */
export function factsIn(facts: Readonly<Record<string, unknown>>): BackupFacts | undefined {
  const { kind, takenAt, sizeBytes, sha256, revision, compactRevision, keys, hashKv } = facts;
  const { isHashConfirmed, unconfirmed, etcdVersion, clusterId, memberId, alarms } = facts;
  if (kind !== 'etcd-backup/v1' || typeof isHashConfirmed !== 'boolean') return undefined;
  // The API server takes no status with a day that there is not.
  if (!matches(takenAt, TIME) || Number.isNaN(Date.parse(takenAt))) return undefined;
  if (!matches(sha256, /^[0-9a-f]{64}$/)) return undefined;
  if (!matches(revision, DECIMAL) || !matches(compactRevision, DECIMAL)) return undefined;
  if (!isCount(sizeBytes) || !isCount(keys) || !isCount(hashKv)) return undefined;
  if (!matches(clusterId, ID) || !matches(memberId, ID)) return undefined;
  if (!matches(etcdVersion, /^\d+\.\d+\.\d+[\w.+-]{0,64}$/)) return undefined;
  const raised = Array.isArray(alarms) ? alarms.slice(0, ALARMS_MAX) : [];
  if (!raised.every((one) => matches(one, /^\w{1,64}$/))) return undefined;
  return {
    takenAt,
    sizeBytes,
    sha256,
    revision,
    compactRevision,
    keys,
    hashKv,
    isHashConfirmed,
    ...(typeof unconfirmed === 'string' ? { unconfirmed: shown(unconfirmed) } : {}),
    etcdVersion,
    clusterId,
    memberId,
    ...(raised.length === 0 ? {} : { alarms: raised }),
  };
}
