// The first start of a process of the model, as the flags of its container tell it: those of the
// pod, and not those that a later template has.
import type { KubeObject } from '../../../../shared/kube/objects.ts';
import { containerOf } from './alone.ts';
import type { MemberModel } from './shapes.ts';

export interface Bootstrap {
  readonly isNew: boolean;
  /** By the names of members. */
  readonly urls: ReadonlyMap<string, string>;
}

export function bootstrapIn(args: readonly string[]): Bootstrap {
  const urls = valueOf(args, 'initial-cluster')
    .split(',')
    .map((one) => one.split('=') as [string, string]);
  return { isNew: valueOf(args, 'initial-cluster-state') === 'new', urls: new Map(urls) };
}

/** Told of itself alone, or not of each member, it finds no cluster to join. */
export function findsCluster(
  urls: Bootstrap['urls'],
  members: readonly { readonly peerUrl: string }[],
): boolean {
  const told = [...urls.values()];
  return told.length > 1 && members.every(({ peerUrl }) => told.includes(peerUrl));
}

/** Several learners at once take a flag that all members have, and a single voter. */
export function judgeLearners(
  pods: readonly KubeObject[],
  members: readonly Pick<MemberModel, 'isLearner'>[],
): void {
  const voters = members.filter(({ isLearner }) => !isLearner);
  const hasFlag = (pod: KubeObject): boolean =>
    Number(valueOf(containerOf(pod).args, 'max-learners')) > 1;
  const mayBeMore = voters.length === 1 && pods.every(hasFlag);
  if (voters.length < members.length && !mayBeMore) throw new Error('two learners');
}

function valueOf(args: readonly string[], name: string): string {
  const prefix = `--${name}=`;
  return args.find((one) => one.startsWith(prefix))?.slice(prefix.length) ?? '';
}
