// A scan of servers that do not agree on the end of the stream: what it found is of no time, so
// neither the status nor the next sweep may rest on it.
import { expect, test } from 'vitest';
import type { Deps } from '../../../functions/metadata/deps.ts';
import { feedOf } from '../../../functions/metadata/feed.ts';
import { suspectsIn } from '../../../functions/metadata/scan-compared.ts';
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
function sums(): StreamSums {
  const all = new StreamSums('p');
  const version = { epoch: 1, uid: 'u', resourceVersion: '1' };
  const data = encodeMessage({ ...version, kind: 'Pod', name: 'a' });
  all.add({ subject: 'p.node.n1.pods.web.a', sequence: 1, time: '', data });
  return all;
}

/** The feed after a sweep that found this. */
async function sweptFeed(isOfOneTime: boolean) {
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
    isOfOneTime,
  };
  const deps = { kube, clock } as unknown as Deps;
  return writeSwept(deps, session, feedWith(undefined), swept, signal);
}

const inSync = ({ status }: { readonly status: MetadataFeedStatus }) =>
  (status.conditions ?? []).find(({ type }) => type === 'InSync');

test('a scan of servers that differ is not called equal to the API server', async () => {
  expect(inSync(await sweptFeed(true))).toMatchObject({ status: 'True', reason: 'Verified' });
  const differing = inSync(await sweptFeed(false));
  expect(differing).toMatchObject({ status: 'Unknown', reason: 'ServersDiffer' });
});

test('a message that came back while servers differed is suspect to the next sweep', async () => {
  const pods = { name: 'pods' } as never;
  const scanned = { version: 1, sums: sums(), floor: 0 };
  const suspectsAfter = async (isOfOneTime: boolean): Promise<boolean> => {
    const feed = await sweptFeed(isOfOneTime);
    return suspectsIn({ session: { feed } as Session }, scanned, undefined)(pods);
  };
  expect(await suspectsAfter(true)).toBe(false);
  expect(await suspectsAfter(false)).toBe(true);
});
