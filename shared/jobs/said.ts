// Reads the last words of a Job's pod, and the facts beside a backup. Anybody who may write pods in
// the namespace could have written them, so they are believed only in the form that our programs
// give them, and nothing is kept that is longer. Pure.
import {
  type BackupError,
  type BackupFacts,
  FACTS_KIND,
  type FactsOfEncryption,
} from '../api/etcd-backup.ts';
import { cut } from '../cut.ts';
import { printable } from '../function/printable.ts';
import { isRecord } from '../kube/json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The last words of a program; the fields of its success are for its function to judge. */
export type Said = { readonly done: Fields } | { readonly error: BackupError };

/** The kubelet keeps no more. */
const BYTES_MAX = 4_096;
const TEXT_BYTES_MAX = 1_000;
const ALARMS_MAX = 8;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;
const SHA256 = /^[0-9a-f]{64}$/;
const DECIMAL = /^\d{1,20}$/;
const ID = /^[0-9a-f]{1,16}$/;

/** Undefined for what no program of ours would have said. */
export function saidIn(message: string): Said | undefined {
  const said = parsed(message);
  if (said === undefined) return undefined;
  const { outcome, error, ...done } = said;
  if (outcome === 'failed') return isRecord(error) ? errorIn(error) : undefined;
  return outcome === 'done' ? { done } : undefined;
}

function parsed(message: string): Fields | undefined {
  if (Buffer.byteLength(message) > BYTES_MAX) return undefined;
  try {
    const said: unknown = JSON.parse(message);
    return isRecord(said) ? said : undefined;
  } catch {
    return undefined;
  }
}

function errorIn({ code, message }: Fields): Said | undefined {
  if (!matches(code, /^[A-Z][A-Z0-9_]{0,63}$/) || typeof message !== 'string') return undefined;
  return { error: { code, message: shown(message) } };
}

const shown = (text: string): string => cut(printable(text), TEXT_BYTES_MAX);

const matches = (value: unknown, form: RegExp): value is string =>
  typeof value === 'string' && form.test(value);

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

/** Undefined for what are no facts of a backup. */
export function factsIn(facts: Fields): BackupFacts | undefined {
  const { kind, takenAt, sizeBytes, sha256, revision, compactRevision, keys, hashKv } = facts;
  const { isHashConfirmed, unconfirmed, etcdVersion, clusterId, memberId, alarms } = facts;
  const encryption = encryptionIn(facts['encryption']);
  if (kind !== FACTS_KIND || typeof isHashConfirmed !== 'boolean') return undefined;
  if (encryption === 'none') return undefined;
  // The API server takes no status with a day that there is not.
  if (!matches(takenAt, TIME) || Number.isNaN(Date.parse(takenAt))) return undefined;
  if (!matches(sha256, SHA256)) return undefined;
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
    ...(encryption === undefined ? {} : { encryption }),
  };
}

/** Undefined where there is none, and 'none' for what is no facts of any. */
function encryptionIn(found: unknown): FactsOfEncryption | 'none' | undefined {
  if (found === undefined) return undefined;
  if (!isRecord(found)) return 'none';
  const { format, keyId, plainSizeBytes, plainSha256 } = found;
  if (!matches(format, /^[\w./-]{1,64}$/) || !matches(keyId, /^[0-9a-f]{16}$/)) return 'none';
  if (!isCount(plainSizeBytes) || !matches(plainSha256, SHA256)) return 'none';
  return { format, keyId, plainSizeBytes, plainSha256 };
}
