// A cluster's history for benchmark P14: custom resources that are updated, deleted and made again,
// each revision a JSON object as the API server stores it.
import type { HistoryRecord } from '../builders/bolt-file.ts';

/** As a custom resource with a filled spec, status and managedFields has. */
const FILLER_BYTES = 1_000;

/** `keys` objects in `rounds` rounds of changes; every seventh change is a delete. */
export function* history(keys: number, rounds: number): Generator<HistoryRecord> {
  const filler = 'x'.repeat(FILLER_BYTES);
  let main = 1;
  for (let round = 0; round < rounds; round += 1) {
    for (let index = 0; index < keys; index += 1) {
      main += 1;
      const namespace = `team-${index % 97}`;
      const name = `widget-${index.toString(36).padStart(6, '0')}`;
      const key = `/registry/example.com/widgets/${namespace}/${name}`;
      const isDelete = round > 0 && (index + round) % 7 === 0;
      const version = (index + round) % 3 === 0 ? 'v1alpha1' : 'v1';
      const metadata = `{"name":"${name}","namespace":"${namespace}","generation":${round}}`;
      const type = `"apiVersion":"example.com/${version}","kind":"Widget"`;
      const value = `{${type},"metadata":${metadata},"spec":{"filler":"${filler}"}}`;
      yield { main, key, value: isDelete ? undefined : value };
    }
  }
}
