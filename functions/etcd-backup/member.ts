// Chooses the member that a backup is taken from: the one with the least to do that is as far as
// any, so a follower where there is one.
import type { EtcdAdmin, EtcdMemberAdmin } from '../../shared/etcd/admin.ts';
import { isEtcdFailure } from '../../shared/etcd/admin/failure.ts';
import type { EtcdStatus } from '../../shared/etcd/admin/status.ts';
import { Failure } from '../../shared/errors.ts';

export interface Source {
  readonly url: string;
  readonly member: EtcdMemberAdmin;
  readonly status: EtcdStatus;
}

/** Those that answered, the best to ask first. */
export async function findSources(
  etcd: EtcdAdmin,
  endpoints: readonly string[],
  signal: AbortSignal,
): Promise<readonly Source[]> {
  const ask = (url: string): Promise<Source> => askAt(etcd, url, signal);
  const given = await Promise.allSettled(endpoints.map(ask));
  const listed = await memberUrls(etcd, endpoints, signal);
  const others = await Promise.allSettled(listed.map(ask));
  signal.throwIfAborted();
  const answered = sourcesOf(given);
  // Members by their own addresses first: one that was given may stand for any of them.
  const sources = ordered([...sourcesOf(others), ...answered], answered[0]);
  if (sources.length > 0) return sources;
  const reasons = given.flatMap((one): unknown[] =>
    one.status === 'rejected' ? [one.reason] : [],
  );
  const reason = reasons.find((one) => isTelling(one)) ?? reasons[0];
  if (reason instanceof Error) throw reason;
  const object = endpoints.join(', ');
  const message = `No member of the etcd at ${object} can be backed up: name one that votes.`;
  throw new Failure('ETCD_UNAVAILABLE', message, { object });
}

async function askAt(etcd: EtcdAdmin, url: string, signal: AbortSignal): Promise<Source> {
  const member = etcd.at(url);
  return { url, member, status: await member.status({ signal }) };
}

const sourcesOf = (asked: readonly PromiseSettledResult<Source>[]): readonly Source[] =>
  asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));

/** One that was reached says more than one that was not. */
const isTelling = (error: unknown): boolean => !isEtcdFailure(error, 'UNREACHABLE', 'NO_ANSWER');

async function memberUrls(
  etcd: EtcdAdmin,
  endpoints: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  // Nothing is said in the clear to somebody who was to be reached over TLS.
  const isSecret = endpoints.every((url) => url.startsWith('https:'));
  const isHere = endpoints.some((url) => isLoopback(url));
  try {
    const { members } = await etcd.members.list({ isLinearizable: false, signal });
    return (
      members
        .filter(({ isLearner }) => !isLearner)
        .flatMap(({ clientUrls }) => clientUrls)
        .filter((url) => URL.canParse(url) && (!isSecret || url.startsWith('https:')))
        // Where it is the default of somebody elsewhere, another etcd may listen here.
        .filter((url) => isHere || !isLoopback(url))
        .map((url) => url.replace(/\/$/, ''))
    );
  } catch (error) {
    signal.throwIfAborted();
    // Each endpoint that was given says by itself why it cannot be used.
    if (error instanceof Failure) return [];
    throw error;
  }
}

const isLoopback = (url: string): boolean =>
  /^(?:localhost|127\.|\[::1\])/.test(URL.parse(url)?.hostname ?? '');

/** Each member once, of the cluster that `first` is of. */
export function ordered(sources: readonly Source[], first: Source | undefined): readonly Source[] {
  const byId = new Map<string, Source>();
  for (const source of sources) {
    const { header, isLearner } = source.status;
    const isOther = header.clusterId !== first?.status.header.clusterId;
    if (isLearner || isOther || byId.has(header.memberId)) continue;
    byId.set(header.memberId, source);
  }
  return [...byId.values()].toSorted((one, other) => rank(other) - rank(one) || age(one, other));
}

/** A member without a leader may be behind without knowing it. */
function rank({ status: { leaderId, header } }: Source): number {
  if (leaderId === undefined) return 0;
  return leaderId === header.memberId ? 1 : 2;
}

const age = (one: Source, other: Source): number =>
  other.status.raftAppliedIndex - one.status.raftAppliedIndex;
