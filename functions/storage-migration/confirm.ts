// From the second pass to the proof where etcd is to agree: what a migration says when it goes to
// ask, and what comes of each answer. Pure.
import type { StorageMigrationStatus } from '../../shared/api/storage-migration.ts';
import type { EtcdAnswer } from './etcd-verdict.ts';
import { type StatusUpdate, blocked, inProgress, proved, settlesAgain } from './status.ts';
import type { Crd } from './observe.ts';

/** The only reason to wait for etcd that another pass may end. */
const ETCD_DISAGREES = 'EtcdDisagrees';
/** One such round may be an unlucky moment, and each costs a pass. */
const ROUNDS_MAX = 3;
/** Blocked by it, a pass now and then: the API server that was behind may be so no more. */
const PASS_EVERY_MS = 600_000;

/** The second pass has proved what it can; the word of etcd is lacking. */
export function unconfirmed(found: StatusUpdate): StatusUpdate {
  const { proof, ...rest } = found.status;
  if (proof === undefined) return found;
  // An end without a continuation: what is kept of it is the moment of the list.
  const cursor = { after: '', continue: '', resourceVersion: proof.resourceVersion };
  return inProgress({ ...rest, phase: 'Confirming', cursor });
}

export interface Moment {
  readonly nowMs: number;
  readonly nowIso: string;
  readonly crd: Crd | undefined;
}

/** `answer` is undefined where etcd is not asked any more. */
export function confirmed(
  status: StorageMigrationStatus,
  answer: EtcdAnswer | undefined,
  moment: Moment,
): StatusUpdate {
  if (answer?.result === 'unusable') return blocked(status, answer.why);
  if (answer?.result === 'old') return disagreed(status, answer.message, moment);
  const { nowIso, crd } = moment;
  const update = proved(status, status.cursor?.resourceVersion ?? '', nowIso, crd);
  const { proof } = update.status;
  if (answer === undefined || proof === undefined) return update;
  const { revision: etcdRevision, values: etcdValues } = answer;
  const both = { ...proof, oracle: 'SecondPassAndEtcd', etcdRevision, etcdValues } as const;
  return { ...update, status: { ...update.status, proof: both } };
}

/** Our pass found each stored as it should be, and etcd does not: an API server is behind. */
function disagreed(status: StorageMigrationStatus, found: string, { nowMs }: Moment): StatusUpdate {
  const { phase, conditions, passStartedAt, etcdDisagreed: before = 0 } = status;
  const why = conditions?.find(({ type }) => type === 'Blocked')?.reason;
  const isKnown = phase === 'Blocked' && why === ETCD_DISAGREES;
  const etcdDisagreed = isKnown ? before : before + 1;
  const isLongAgo = nowMs - Date.parse(passStartedAt ?? '') >= PASS_EVERY_MS;
  const goesOn = isKnown ? isLongAgo : etcdDisagreed < ROUNDS_MAX;
  if (goesOn) return settlesAgain({ ...status, etcdDisagreed });
  const message =
    `${found} Is an API server of an older configuration running? Restart it, or see who else ` +
    'writes to etcd; the list of stored versions stays as it is.';
  return blocked({ ...status, etcdDisagreed }, { reason: ETCD_DISAGREES, message });
}
