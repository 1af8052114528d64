// Names that the benchmarks of the feed share with their helpers.

/** As the manifest of the feed calls it. */
export const FEED = 'cluster';
