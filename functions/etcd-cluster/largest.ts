// Which keys take the space, for people: the parts of their paths with the number of keys and a
// guess of their bytes. So many questions at most, whatever the keys are; no value is told.
import { cut } from '../../shared/cut.ts';
import type { CallOptions } from '../../shared/etcd/admin/caller.ts';
import type { Keys, Part } from '../../shared/etcd/admin/keys.ts';

/** Two questions each; a Kubernetes has some hundred kinds under its second part. */
const PARTS_MAX = 64;
/** `/registry/pods/` is the third part of its keys. */
const DEPTH_MAX = 3;
const SAMPLED_MAX = 16;
const SHOWN_MAX = 5;
const NAME_BYTES_MAX = 64;
const MIB = 2 ** 20;

type Counted = Pick<Keys, 'countParts' | 'sampleBytes'>;

export async function describeLargest(keys: Counted, options: CallOptions): Promise<string> {
  const { parts, isWhole } = await partsBelow(keys, options);
  const sampled = await Promise.all(
    parts
      .toSorted((a, b) => b.keys - a.keys)
      .slice(0, SAMPLED_MAX)
      .map(async (part) => ({
        ...part,
        bytes: part.keys * ((await keys.sampleBytes(part.prefix, options)) ?? 0),
      })),
  );
  const shown = sampled
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, SHOWN_MAX)
    .map(
      ({ prefix, keys: count, bytes }) => `${shownName(prefix)}: ${count}, ${shownBytes(bytes)}`,
    );
  const rest = isWhole ? '' : `, of the first ${PARTS_MAX} parts of paths`;
  return `${shown.join('; ')}${rest}`;
}

/** Goes down as long as all keys are below one part. */
async function partsBelow(keys: Counted, options: CallOptions) {
  let found = await keys.countParts('', { ...options, partsMax: PARTS_MAX });
  for (let depth = 1; depth < DEPTH_MAX; depth += 1) {
    const only = onlyPart(found);
    if (only === undefined) break;
    found = await keys.countParts(only.prefix, { ...options, partsMax: PARTS_MAX });
  }
  return found;
}

const onlyPart = ({ parts, isWhole }: { readonly parts: readonly Part[]; isWhole: boolean }) => {
  const [only] = parts;
  const isOnly = isWhole && parts.length === 1 && only?.prefix.endsWith('/') === true;
  return isOnly ? only : undefined;
};

/** Keys may be any bytes. */
const shownName = (prefix: string): string =>
  cut(prefix.replaceAll(/[\p{Cc}\p{Cf}\uFFFD]/gu, '?'), NAME_BYTES_MAX);

const shownBytes = (bytes: number): string =>
  bytes < MIB ? 'less than 1 MiB' : `about ${Math.round(bytes / MIB)} MiB`;
