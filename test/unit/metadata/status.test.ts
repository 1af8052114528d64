// The conditions of a feed after a sweep, by what the sweep found.
import { expect, test } from 'vitest';
import type { SweptResource } from '../../../functions/metadata/status.ts';
import { conditionOf, sweptFeed } from './swept-feed.ts';

const resource = (name: string, more: Partial<SweptResource> = {}): SweptResource => ({
  name,
  objects: 1,
  resourceVersion: '1',
  verifiedAt: '2026-11-23T12:00:00Z',
  isVerified: true,
  isListed: true,
  ...more,
});

test('objects that are too large are told by name, and the rest is served', async () => {
  const pods = resource('pods', { oversize: 3, oversizeNames: ['web/huge', 'web/larger'] });
  const services = resource('services', { oversize: 1, oversizeNames: ['shop/large'] });
  const feed = await sweptFeed({ resources: [resource('nodes'), pods, services] });
  expect(conditionOf(feed, 'Degraded')).toMatchObject({
    status: 'True',
    reason: 'ObjectTooLarge',
    message:
      'Too large to be read or shown, and left out: 3 pods, such as web/huge, web/larger; ' +
      '1 services, such as shop/large.',
  });
  expect(conditionOf(feed, 'Ready')).toMatchObject({ status: 'True' });
});

test('without one the feed is as expected', async () => {
  const feed = await sweptFeed({ resources: [resource('pods', { oversize: 0 })] });
  expect(conditionOf(feed, 'Degraded')).toMatchObject({ status: 'False', reason: 'AsExpected' });
});
