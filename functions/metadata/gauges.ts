// Shows for each MetadataFeed when it was proved to be equal to the API server, until when that is
// to be repeated, and what its sweeps found, for alerts. All of it stands in the status of the
// feed, so it is right whichever instance has swept. A time goes on being true while nobody looks.
import type { Metrics } from '../../shared/function/metrics.ts';
import { secondsOf } from '../../shared/kube/timestamp.ts';
import { ObjectGauges } from '../../shared/stateful/object-gauges.ts';
import type { Feed } from './feed.ts';

const SWEPT = 'ballast_metadata_feed_swept_timestamp_seconds';
const PROVED = 'ballast_metadata_feed_proved_timestamp_seconds';
const UNTIL = 'ballast_metadata_feed_good_until_timestamp_seconds';
const OBJECTS = 'ballast_metadata_feed_objects';
const LACKING = 'ballast_metadata_feed_lacking_objects';
const STRAY = 'ballast_metadata_feed_stray_objects';
const OVERSIZE = 'ballast_metadata_feed_oversize_objects';
const HEALED = 'ballast_metadata_feed_healed_messages';
const UNFOUNDED = 'ballast_metadata_feed_unfounded_messages';

const LABELS = ['namespace', 'metadatafeed'];
const HELP = {
  [SWEPT]: 'When a sweep of a MetadataFeed ended well the last time, in Unix seconds; 0 for never.',
  [PROVED]:
    'Up to when every resource of a MetadataFeed was compared with the API server, in Unix ' +
    'seconds; 0 while one of them cannot be, or never was.',
  [UNTIL]:
    'Until when every resource of a MetadataFeed is to be compared again, in Unix seconds: two ' +
    'of its periods and a minute later; 0 while there is no proof.',
  [OBJECTS]: 'Objects that a MetadataFeed shows.',
  [LACKING]:
    'Objects that a MetadataFeed ought to show and did not at the last count: the same number ' +
    'twice is a gap, which the sweep then fills.',
  [STRAY]: 'Objects that a MetadataFeed showed and ought not to at the last count.',
  [OVERSIZE]: 'Objects that a MetadataFeed leaves out, since they fit into no message.',
  [HEALED]:
    'Messages of a MetadataFeed that sweeps had to repair, since the feed was made. It only ' +
    'grows, over all instances.',
  [UNFOUNDED]:
    'Messages of a MetadataFeed that were published on the word of an event and were not so, ' +
    'since the feed was made. It only grows, over all instances.',
};

/** Two ticks may be lost, and a minute is for the sweep itself. */
const PERIODS = 2;
const SLACK_SECONDS = 60;

export class FeedGauges {
  readonly #gauges: ObjectGauges<keyof typeof HELP>;

  constructor(metrics: Metrics) {
    this.#gauges = new ObjectGauges(metrics, LABELS, HELP);
  }

  /** Shows these feeds, and no others any more. */
  showAll(feeds: readonly Feed[]): void {
    for (const feed of feeds) this.#show(feed);
    this.#gauges.keepOnly(new Set(feeds.map(({ object }) => object.metadata.uid)));
  }

  #show(feed: Feed): void {
    const { object, status, spec } = feed;
    const { namespace = '', name, uid } = object.metadata;
    const { resources = [], events } = status;
    const proved = provedSeconds(feed);
    const sum = (count: 'objects' | 'lacking' | 'stray' | 'oversize'): number =>
      resources.reduce((all, row) => all + (row[count] ?? 0), 0);
    this.#gauges.show(
      uid,
      { namespace, metadatafeed: name },
      {
        [SWEPT]: secondsOf(status.sweptAt),
        [PROVED]: proved,
        [UNTIL]: proved === 0 ? 0 : proved + PERIODS * spec.sweepSeconds + SLACK_SECONDS,
        [OBJECTS]: sum('objects'),
        [LACKING]: sum('lacking'),
        [STRAY]: sum('stray'),
        [OVERSIZE]: sum('oversize'),
        [HEALED]: events?.healed ?? 0,
        [UNFOUNDED]: events?.unfounded ?? 0,
      },
    );
  }
}

/** A resource that cannot be read has no row in the status. */
function provedSeconds({ resources, status }: Feed): number {
  const times = resources.map(({ name }) =>
    secondsOf(status.resources?.find((row) => row.name === name)?.verifiedAt),
  );
  return times.length === 0 ? 0 : Math.min(...times);
}
