// `/feed`: how fresh the replica of this instance is.
import type { QueryRoute } from './query-route.ts';
import { COUNT, STRING, TIME, record } from './schema.ts';

export const FEED: QueryRoute = {
  method: 'GET',
  path: '/feed',
  summary: 'how fresh the picture of the cluster is, and when it was last proven right',
  isAboutFeed: true,
  answers: record({
    'behind?': { ...COUNT, description: 'messages that are yet to be read' },
    'why?': STRING,
    'verifiedVersion?': { ...COUNT, description: 'the last version at which the digests agreed' },
    'verifiedAt?': TIME,
    'sweptAt?': { ...TIME, description: 'when the feed was last compared with the API server' },
    isStale: { type: 'boolean', description: 'nobody did so for two of its periods and a minute' },
    historySeconds: { ...COUNT, description: 'how long traces of the past are kept' },
    objects: { type: 'object', additionalProperties: COUNT },
    counts: { type: 'object', additionalProperties: COUNT },
  }),
  answer: (_query, { catalog, state, counts }) => {
    const { phase, behind, why, verifiedVersion, verifiedAtMs, sweptAtMs, isStale } = state;
    const head = {
      state: phase,
      ...(behind === undefined ? {} : { behind }),
      ...(why === undefined ? {} : { why }),
      ...(verifiedVersion === undefined ? {} : { verifiedVersion }),
      ...(verifiedAtMs === undefined ? {} : { verifiedAt: timeText(verifiedAtMs) }),
      ...(sweptAtMs === undefined ? {} : { sweptAt: timeText(sweptAtMs) }),
      isStale: isStale === true,
      historySeconds: catalog.historySeconds,
    };
    const objects = catalog.counts();
    return {
      body: { ...head, objects, counts: { ...counts } },
      shown: { ...head, objects: rowsOf(objects), counts: rowsOf({ ...counts }) },
    };
  },
};

const timeText = (ms: number): string => new Date(ms).toISOString();

const rowsOf = (counts: Readonly<Record<string, number>>): readonly object[] =>
  Object.entries(counts)
    .toSorted(([a], [b]) => Number(a > b) - Number(a < b))
    .map(([name, count]) => ({ name, count }));
