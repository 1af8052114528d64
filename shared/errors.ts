// Every failure a function can answer with, in one table. A failure is one of three kinds: retry
// (the sender should come again), reject (it never will work) and bug (ours; the sender keeps the
// event). docs/errors.md explains each code; a test holds the two against each other.

import { cut, quoted } from './cut.ts';

export type FailureKind = 'retry' | 'reject' | 'bug';

interface ErrorRow {
  readonly kind: FailureKind;
  /**
   * Only for rejects that HTTP has a number of its own for (401, 403, 405, 413, 415, 422); retry
   * and bug are always 503.
   */
  readonly status: number;
  readonly title: string;
}

const retry = (title: string): ErrorRow => ({ kind: 'retry', status: 503, title });
const reject = (title: string, status = 400): ErrorRow => ({ kind: 'reject', status, title });
const bug = (title: string): ErrorRow => ({ kind: 'bug', status: 503, title });

export const errorTable = {
  INTERNAL_BUG: bug('The function met a state that it believed impossible'),
  FEED_OBJECT_MISSING: reject('The event does not carry its object', 422),
  FEED_OBJECT_BROKEN: reject('The object in the event cannot be one of the API server', 422),
  FEED_NATS_UNKNOWN: retry('The Secret that names the NATS of a feed does not say where it is'),
  FEED_EPOCH_PASSED: retry('The feed has begun another epoch meanwhile'),
  FEED_CATCHING_UP: retry('The picture of the cluster is not whole yet'),
  FEED_VERSION_AHEAD: retry('The version that was asked for is not reached yet'),
  CRDS_ABSENT: reject('There is no CustomResourceDefinition where it should be', 422),
  CRDS_UNREADABLE: reject('A file of CustomResourceDefinitions cannot be read', 422),
  REVIEW_INVALID: reject('The request is no ConversionReview that can be answered', 422),
  QUERY_INVALID: reject('A parameter of the question is missing, unknown or wrong'),
  OBJECT_UNKNOWN: reject('The feed holds nothing of what was asked for', 404),
  NATS_UNAVAILABLE: retry('NATS does not answer'),
  NATS_ACCESS_UNUSABLE: retry('A certificate, a key or a login for NATS cannot be used'),
  NATS_CONFLICT: retry('Another writer was first on the same NATS subject'),
  NATS_REFUSED: retry('NATS refused the request'),
  ETCD_UNSET: reject('This instance knows no etcd that it could read', 422),
  ETCD_ACCESS_UNREADABLE: retry('A certificate or key for etcd cannot be read'),
  ETCD_UNAVAILABLE: retry('etcd cannot be reached or failed'),
  ETCD_REFUSED: retry('etcd refused a request'),
  ETCD_IN_DOUBT: retry('A change to etcd may have been made, or may not'),
  ETCD_COMPACTED: retry('etcd forgot the revision that was being read'),
  ETCD_SNAPSHOT_BROKEN: retry('The snapshot did not arrive whole'),
  SNAPSHOT_DAMAGED: reject('The file is no whole database of etcd', 422),
  SNAPSHOT_CHANGING: retry('The file changed while it was read'),
  DISK_FULL: retry('A disk has no room for a copy of the snapshot'),
  DISK_UNWRITABLE: retry('A file cannot be written where it was to be'),
  S3_ACCESS_UNUSABLE: retry('Credentials or an authority for the object storage cannot be used'),
  S3_UNAVAILABLE: retry('The object storage cannot be reached or failed'),
  S3_REFUSED: retry('The object storage refused a request'),
  S3_NOT_FOUND: retry('The object storage has no such bucket or object'),
  S3_CONFLICT: retry('An object in the object storage is not as it has to be for this change'),
  S3_CHECKSUM: retry('The object storage has other bytes than were sent'),
  BACKUP_OPTIONS_WRONG: reject('A backup was asked for wrongly', 422),
  BACKUP_EXISTS: reject('A backup of this name is there already', 422),
  BACKUP_DIFFERS: retry('The snapshot is not what the member has'),
  BACKUP_IS_OTHER: reject('What lies there is not the backup that was to be removed', 422),
  BACKUP_STOPPED: retry('The backup was ended from outside'),
  BACKUP_MISSING: reject('There is no backup of this name', 422),
  BACKUP_WITHOUT_FACTS: reject('The backup has no facts beside it', 422),
  BACKUP_CHANGED: reject('The backup is not what its facts say', 422),
  BACKUP_SEALED: reject('The backup is encrypted, and no key is named', 422),
  BACKUP_UNSEALED: reject('The backup is not encrypted, and a key is named', 422),
  BACKUP_KEY_WRONG: reject('The backup is encrypted with another key', 422),
  BACKUP_KEY_UNUSABLE: reject('What is named as the key for encryption is none', 422),
  BACKUP_NEWER: reject('The backup is of a newer etcd than the one that is to run on it', 422),
  BACKUP_TOO_LARGE: reject('The backup is larger than the quota of the new etcd', 422),
  BACKUP_ASKS_LOGINS: reject('The backup asks for logins that nobody could give', 422),
  REHEARSAL_FAILED: reject('The backup is stored, and could not be rehearsed', 422),
  RESTORE_WITHOUT_ROOM: reject('A restore may not take as much of its disk as it needs', 422),
  RESTORE_VOLUME_USED: reject('The volume has data that is no attempt of a restore', 422),
  RESTORE_DIFFERS: retry('The restored data is not what the backup has'),
  RESTORE_FAILED: retry('etcdutl could not restore the backup'),
  RESTORE_STOPPED: retry('The restore was ended from outside'),
  KUBE_ACCESS_UNREADABLE: retry(
    'The way to the API server, or the credentials for it, cannot be read',
  ),
  KUBE_CACHE_FULL: retry('The narrow cache has no place for one more object that wakes somebody'),
  KUBE_CLOSED: retry('The client of the API server is closed, because this instance ends'),
  KUBE_TOO_LARGE: retry('The answer of the API server is larger than may be read at once'),
  KUBE_UNAVAILABLE: retry('The API server cannot be reached or failed'),
  KUBE_TIMEOUT: retry('The API server did not finish in time'),
  KUBE_THROTTLED: retry('The API server takes no more requests now'),
  KUBE_UNAUTHORIZED: retry('The API server does not know our credentials'),
  KUBE_FORBIDDEN: retry('The API server refused a request that somebody has to allow'),
  KUBE_NOT_FOUND: retry('The API server has no such object or resource'),
  KUBE_CONFLICT: retry('Another writer was first on the same object'),
  KUBE_ALREADY_EXISTS: retry('An object of this name is there already'),
  KUBE_EXPIRED: retry('The API server no longer has the resourceVersion that was asked for'),
  KUBE_INVALID: reject('The API server finds the object invalid', 422),
  KUBE_BAD_REQUEST: bug('The API server cannot read the request'),
  KUBE_NAME_INVALID: reject('The name cannot be that of a Kubernetes object', 422),
  SENDER_TOKEN_MISSING: reject('The sender has not said who it is', 401),
  SENDER_TOKEN_INVALID: reject('The token of the sender is not good here', 401),
  SENDER_SUBJECT_FORBIDDEN: reject('The sender may not send here', 403),
  SENDER_ADDRESS_FORBIDDEN: reject('Nothing is taken from this address', 403),
  SENDER_KEYS_UNAVAILABLE: retry('Senders cannot be told from strangers now'),
  NOT_AN_EVENT: reject('The request is not a CloudEvent'),
  EVENT_ATTRIBUTE_MISSING: reject('A required CloudEvents attribute is missing'),
  EVENT_ATTRIBUTE_INVALID: reject('A CloudEvents attribute breaks its rule'),
  EVENT_ATTRIBUTE_REPEATED: reject('A header of the event was sent twice'),
  EVENT_TYPE_UNKNOWN: reject('The function does not wake on this event type'),
  EVENT_BATCH_UNSUPPORTED: reject('Batches of events are not taken', 415),
  BODY_NOT_UTF8: reject('The body is not UTF-8'),
  BODY_NOT_JSON: reject('The body is not the JSON it should be'),
  BODY_TOO_DEEP: reject('The body nests too deeply'),
  BODY_TOO_LARGE: reject('The body is too large', 413),
  HEADERS_TOO_LARGE: reject('The headers are too large', 431),
  CONTENT_TYPE_UNSUPPORTED: reject('The content type is not read here', 415),
  CONTENT_ENCODING_UNSUPPORTED: reject('The content encoding is not read here', 415),
  REQUEST_MALFORMED: reject('The request cannot be read'),
  REQUEST_TOO_SLOW: retry('The request did not arrive in time'),
  PATH_UNKNOWN: reject('Nothing answers at this path', 404),
  METHOD_NOT_ALLOWED: reject('The path does not take this method', 405),
  OVERLOADED: retry('The instance works on as many requests as it can'),
  DRAINING: retry('The instance is about to end'),
  DEADLINE_EXCEEDED: retry('The work took longer than it may'),
  SHARED_WORK_ENDED: retry('Work that several wait for ended with one of them'),
  REPLY_INVALID: bug('The reply of the function is not one that may be sent'),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

export interface FailureDetail {
  /** The header, attribute, query parameter or JSON path that is at fault. */
  readonly field?: string;
  /** The object it is about, as `pods web/frontend-1`. */
  readonly object?: string;
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** Answers and logs carry it: whole sentences, and no megabytes that a sender put into one. */
const MESSAGE_BYTES_MAX = 4 * 1024;
/** The longest names of a resource, a namespace and an object stay below. */
const OBJECT_BYTES_MAX = 1_024;

export class Failure extends Error {
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly object: string | undefined;
  readonly retryAfterMs: number | undefined;

  /** `message` is a whole sentence: what, which object, what next. */
  constructor(code: ErrorCode, message: string, detail: FailureDetail = {}) {
    super(
      cut(message, MESSAGE_BYTES_MAX),
      detail.cause === undefined ? undefined : { cause: detail.cause },
    );
    this.name = 'Failure';
    this.code = code;
    this.field = detail.field && quoted(detail.field);
    this.object = detail.object && cut(detail.object, OBJECT_BYTES_MAX);
    this.retryAfterMs = detail.retryAfterMs;
  }

  get kind(): FailureKind {
    return errorTable[this.code].kind;
  }

  get status(): number {
    return errorTable[this.code].status;
  }
}
