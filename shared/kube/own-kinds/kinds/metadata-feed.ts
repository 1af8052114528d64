// MetadataFeed: labels are a selector, and the Secret of a NATS is named as Secrets are elsewhere.
import { textOf } from '../../json.ts';
import type { Fields, Part } from '../part.ts';
import { unnested } from '../parts/nested.ts';
import { selector } from '../parts/selector.ts';

/** As the definition has it: the key of the list. */
const resourceOf = ({ group, resource }: Fields): string => `${textOf(resource)}.${textOf(group)}`;

export const METADATA_FEED: readonly Part[] = [
  selector(['spec', 'resources', '[]'], resourceOf),
  unnested(['spec', 'nats'], { record: 'secretRef', fields: { secretName: 'name' } }),
];
