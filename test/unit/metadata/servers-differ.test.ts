// A scan of servers that do not agree on the end of the stream: what it found is of no time, so
// neither the status nor the next sweep may rest on it.
import { expect, test } from 'vitest';
import { suspectsIn } from '../../../functions/metadata/scan-compared.ts';
import type { Session } from '../../../functions/metadata/session.ts';
import { conditionOf, sums, sweptFeed } from './swept-feed.ts';

test('a scan of servers that differ is not called equal to the API server', async () => {
  expect(conditionOf(await sweptFeed({ isOfOneTime: true }), 'InSync')).toMatchObject({
    status: 'True',
    reason: 'Verified',
  });
  const differing = conditionOf(await sweptFeed({ isOfOneTime: false }), 'InSync');
  expect(differing).toMatchObject({ status: 'Unknown', reason: 'ServersDiffer' });
});

test('a message that came back while servers differed is suspect to the next sweep', async () => {
  const pods = { name: 'pods' } as never;
  const scanned = { version: 1, sums: sums(), floor: 0 };
  const suspectsAfter = async (isOfOneTime: boolean): Promise<boolean> => {
    const feed = await sweptFeed({ isOfOneTime });
    return suspectsIn({ session: { feed } as Session }, scanned, undefined)(pods);
  };
  expect(await suspectsAfter(true)).toBe(false);
  expect(await suspectsAfter(false)).toBe(true);
});
