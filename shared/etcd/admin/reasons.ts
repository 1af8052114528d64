// The words in which etcd refuses, as reasons that decisions depend on. Measured on etcd 3.5, 3.6
// and 3.7, which use the same.

/** Certainly not done, and told by etcd. */
const refusals = {
  'member not found': 'MEMBER_NOT_FOUND',
  'member ID already exist': 'MEMBER_EXISTS',
  'Peer URLs already exists': 'MEMBER_EXISTS',
  'given member URLs are invalid': 'BAD_URLS',
  'can only promote a learner member': 'NOT_A_LEARNER',
  'can only promote a learner member which is in sync with leader': 'LEARNER_NOT_READY',
  'too many learner members in cluster': 'TOO_MANY_LEARNERS',
  'unhealthy cluster': 'UNHEALTHY',
  're-configuration failed due to not enough started members': 'NOT_ENOUGH_STARTED',
  'rpc not supported for learner': 'NOT_FOR_LEARNERS',
  'no leader': 'NO_LEADER',
  'not leader': 'NOT_LEADER',
  'bad leader transferee': 'BAD_TRANSFEREE',
  'mvcc: database space exceeded': 'NOSPACE',
  'corrupt cluster': 'CORRUPT',
  'too many requests': 'TOO_MANY_REQUESTS',
  'request is too large': 'REQUEST_TOO_LARGE',
  'mvcc: required revision has been compacted': 'COMPACTED',
  'mvcc: required revision is a future revision': 'FUTURE_REVISION',
  'permission denied': 'PERMISSION_DENIED',
  'authentication is not enabled': 'AUTH_NOT_ENABLED',
  'invalid auth token': 'INVALID_TOKEN',
  'user name is empty': 'NO_LOGIN',
  'revision of auth store is old': 'AUTH_CHANGED',
  'authentication failed, invalid user ID or password': 'LOGIN_FAILED',
  'authentication failed, password was given for no password user': 'NO_PASSWORD',
  'invalid auth management': 'ROOT_IS_NEEDED',
  'root user does not exist': 'ROOT_IS_NEEDED',
  'root user does not have root role': 'ROOT_IS_NEEDED',
  'user name already exists': 'USER_EXISTS',
  'user name not found': 'USER_NOT_FOUND',
  'role name already exists': 'ROLE_EXISTS',
  'role name not found': 'ROLE_NOT_FOUND',
  'role is not granted to the user': 'ROLE_NOT_GRANTED',
  'permission is not granted to the role': 'PERMISSION_NOT_GRANTED',
  'wrong downgrade target version format': 'DOWNGRADE_TARGET',
  'invalid downgrade target version': 'DOWNGRADE_TARGET',
  'cluster has a downgrade job in progress': 'DOWNGRADE_UNDERWAY',
  'no inflight downgrade job': 'NO_DOWNGRADE',
  'cluster version not found during downgrade': 'NO_CLUSTER_VERSION',
} as const;

/** A change may have been made, or may still be. */
const doubts = {
  'leader changed': 'LEADER_CHANGED',
  'server stopped': 'STOPPED',
  'request timed out': 'TIMEOUT',
  'request timed out, possibly due to previous leader failure': 'TIMEOUT',
  'request timed out, possibly due to connection lost': 'TIMEOUT',
  'request timed out, waiting for the applied index took too long': 'TIMEOUT',
  'request timed out, leader transfer took too long': 'TIMEOUT',
  'request canceled': 'TIMEOUT',
  'request cancelled': 'TIMEOUT',
  'context deadline exceeded': 'TIMEOUT',
} as const;

export type EtcdReason =
  | (typeof refusals)[keyof typeof refusals]
  | (typeof doubts)[keyof typeof doubts]
  /** No connection: nothing was sent. */
  | 'UNREACHABLE'
  /** Taken, and not answered in time or to the end. */
  | 'NO_ANSWER'
  /** Answered as etcd never does. */
  | 'NOT_ETCD'
  /** The address answers, without a gateway behind it; or the gateway does not reach its member. */
  | 'NO_GATEWAY'
  /** Refused in words that are not known here. */
  | 'OTHER';

export interface Judged {
  readonly reason: EtcdReason;
  /** Whether a change may have happened all the same. */
  readonly isInDoubt: boolean;
}

const known = new Map<string, Judged>([
  ...Object.entries(refusals).map(
    ([text, reason]) => [text, { reason, isInDoubt: false }] as const,
  ),
  ...Object.entries(doubts).map(([text, reason]) => [text, { reason, isInDoubt: true }] as const),
]);

/** Numbers of gRPC for requests that were looked at and not begun. */
const NOT_BEGUN = new Set([3, 5, 6, 7, 8, 9, 11, 12, 16]);
/** The gateway is a client of its own member: a server certificate has to do for clients, too. */
const GATEWAY_ALONE =
  /connection error: desc = "(?:transport: (?:Error while dialing|authentication)|error reading s)/;

export interface Refused {
  readonly statusCode: number;
  /** A number of gRPC; undefined when the answer is not the gateway's. */
  readonly code: number | undefined;
  readonly message: string;
}

export function judge({ statusCode, code, message }: Refused): Judged {
  const found = known.get(message.replace(/^(?:etcdserver|auth): /, ''));
  if (found !== undefined && code !== undefined) return found;
  if (code !== undefined) {
    if (GATEWAY_ALONE.test(message)) return { reason: 'NO_GATEWAY', isInDoubt: false };
    return { reason: 'OTHER', isInDoubt: !NOT_BEGUN.has(code) };
  }
  if (statusCode === 404) return { reason: 'NO_GATEWAY', isInDoubt: false };
  return { reason: 'OTHER', isInDoubt: statusCode >= 500 || statusCode < 400 };
}
