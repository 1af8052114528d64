// The version that all members have agreed to speak. A member tells it beside its gateway, without
// a quorum, to whoever may connect.
import type { Call } from './caller.ts';
import { textIn } from './fields.ts';

const VERSION = /^\d+\.\d+\.\d+/;

/** As `3.5.0`; undefined as long as the member knows none. */
export const CLUSTER_VERSION: Call<string | undefined> = {
  path: '/version',
  body: null,
  read: (answer) => {
    const version = textIn(answer, 'etcdcluster');
    return VERSION.test(version) ? version : undefined;
  },
};
