// A feed after the end of a sweep, as its status is written, for tests of what the status says.
import type { Deps } from '../../../functions/metadata/deps.ts';
import { type Feed, feedOf } from '../../../functions/metadata/feed.ts';
import type { Session } from '../../../functions/metadata/session.ts';
import { type Swept, writeSwept } from '../../../functions/metadata/status.ts';
import { StreamSums } from '../../../functions/metadata/stream-scan.ts';
import type { MetadataFeedStatus } from '../../../shared/api/metadata-feed.ts';
import { encodeMessage } from '../../../shared/feed/messages.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';

const signal = new AbortController().signal;
const noCounts = { received: 0, published: 0, unchanged: 0, overtaken: 0 };
const counts = { ...noCounts, healed: 0, unfounded: 0, oversize: 0 };
const outcomes = { ...counts, closed: 0, removed: 0 } as unknown as Swept['outcomes'];

function feedWith(status: MetadataFeedStatus | undefined) {
  const metadata = { name: 'f', namespace: 'feeds', uid: 'u', resourceVersion: '1' };
  const spec = { stream: {}, retention: { tombstoneSeconds: 3_600 } };
  const object = { apiVersion: 'ballast.dev/v1alpha1', kind: 'MetadataFeed', metadata, spec };
  return feedOf(status === undefined ? object : { ...object, status });
}

/** A pod that came back on the server that was read. */
export function sums(): StreamSums {
  const all = new StreamSums('p');
  const version = { epoch: 1, uid: 'u', resourceVersion: '1' };
  const data = encodeMessage({ ...version, kind: 'Pod', name: 'a' });
  all.add({ subject: 'p.node.n1.pods.web.a', sequence: 1, time: '', data });
  return all;
}

/** The feed after a sweep that found this. */
export async function sweptFeed(changes: Partial<Swept>) {
  const kube = {
    apply: async (_ref: unknown, manifest: Manifest) => ({
      ...feedWith(undefined).object,
      ...manifest,
    }),
  } as unknown as KubeClient;
  const clock = { nowMs: () => 0, sleep: async () => undefined };
  const session = { takeCounts: () => counts } as unknown as Session;
  const swept: Swept = {
    epochStart: { epoch: 1, streamId: 's' },
    reason: undefined,
    version: 1,
    floorSequence: 0,
    resources: [],
    blocked: new Map(),
    outcomes,
    sums: sums(),
    isOfOneTime: true,
    ...changes,
  };
  const deps = { kube, clock } as unknown as Deps;
  return writeSwept(deps, session, feedWith(undefined), swept, signal);
}

export const conditionOf = ({ status }: Feed, type: string) =>
  (status.conditions ?? []).find((one) => one.type === type);
