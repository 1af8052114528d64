// Finds older Takeovers of the same object: the oldest one has it, until it is over or gone.
import { TAKEOVERS } from '../../shared/api/takeover.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { OBJECTS_PER_PAGE } from './labelled.ts';
import { isOver } from './records.ts';
import { type Takeover, takeoverOf } from './object.ts';

export async function findOthers(
  kube: KubeClient,
  takeover: Takeover,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { namespace, uid, spec } = takeover;
  const others: string[] = [];
  const options = { namespace, limit: OBJECTS_PER_PAGE, signal };
  for await (const { items } of kube.pages(TAKEOVERS, options)) {
    for (const other of items.map((object) => takeoverOf(object))) {
      const { apiVersion, kind, name } = other.spec.legacy;
      const isOfKind = kind === spec.legacy.kind && apiVersion === spec.legacy.apiVersion;
      const isOfSame = isOfKind && name === spec.legacy.name;
      const isSame = other.uid !== uid && isOfSame;
      if (isSame && !isOver(other) && isOlder(other, takeover)) others.push(other.name);
    }
  }
  return others.toSorted();
}

/** One that was begun goes first; then the one that was made first. */
function isOlder(one: Takeover, other: Takeover): boolean {
  const [begun, otherBegun] = [one, other].map(({ status }) => status.work !== undefined);
  if (begun !== otherBegun) return begun === true;
  return orderOf(one) < orderOf(other);
}

const orderOf = ({ object, uid }: Takeover): string =>
  `${object.metadata.creationTimestamp ?? ''} ${uid}`;
