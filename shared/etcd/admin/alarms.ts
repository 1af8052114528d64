// Alarms of a cluster. Listing them goes through etcd's log and so takes a quorum and a write to
// disk: who only looks reads them in the status of any member.
import type { CallOptions, Caller } from './caller.ts';
import { type Fields, idIn, listIn, textIn } from './fields.ts';

/** OTHER: one that this etcd knows and we do not. */
export type AlarmType = 'NOSPACE' | 'CORRUPT' | 'OTHER';

export interface EtcdAlarm {
  readonly memberId: string;
  readonly type: AlarmType;
}

/** Some for each member of a large cluster. */
const ALARMS_MAX = 256;

export class Alarms {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  list(options?: CallOptions): Promise<readonly EtcdAlarm[]> {
    return this.#ask({ action: 'GET' }, false, options);
  }

  /** With CORRUPT no member takes any write from here on, until it is disarmed. */
  raise(
    { memberId, type }: EtcdAlarm & { readonly type: 'CORRUPT' },
    options?: CallOptions,
  ): Promise<readonly EtcdAlarm[]> {
    return this.#ask({ action: 'ACTIVATE', memberID: memberId, alarm: type }, true, options);
  }

  /** Returns the alarms that ended: none when there was no such alarm. */
  disarm(
    { memberId, type }: EtcdAlarm & { readonly type: 'NOSPACE' | 'CORRUPT' },
    options?: CallOptions,
  ): Promise<readonly EtcdAlarm[]> {
    return this.#ask({ action: 'DEACTIVATE', memberID: memberId, alarm: type }, true, options);
  }

  #ask(
    body: object,
    isChange: boolean,
    options: CallOptions | undefined,
  ): Promise<readonly EtcdAlarm[]> {
    const read = (answer: Fields): readonly EtcdAlarm[] =>
      listIn(answer, 'alarms', ALARMS_MAX, alarm);
    return this.#caller.ask({ path: '/v3/maintenance/alarm', body, isChange, read }, options);
  }
}

const alarm = (fields: Fields): EtcdAlarm => ({
  memberId: idIn(fields, 'memberID'),
  type: typeOf(textIn(fields, 'alarm')),
});

const typeOf = (name: string): AlarmType =>
  name === 'NOSPACE' || name === 'CORRUPT' ? name : 'OTHER';

/**
 * In the errors of a status: `memberID:8 alarm:NOSPACE`, with as much space as protobuf likes.
 * Without a member, which is then `0`, when etcd cannot tell whose data is corrupt.
 */
export function alarmsIn(errors: readonly string[]): readonly EtcdAlarm[] {
  return errors.flatMap((text) => {
    const [, memberId = '0', name = ''] =
      /^(?:memberID:(\d{1,20})\s+)?alarm:(\w+)/.exec(text) ?? [];
    return name === '' ? [] : [{ memberId, type: typeOf(name) }];
  });
}
