// The one way down to the minor version before: etcd is told, and rewrites what it stores; then
// members are started with the older binary, one by one.
import type { CallOptions, Caller } from './caller.ts';
import { type Fields, textIn } from './fields.ts';

export class Downgrade {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /** Whether it could be enabled; `target` is as `3.5`. Returns the version of the cluster. */
  validate(target: string, options?: CallOptions): Promise<string> {
    return this.#ask({ action: 'VALIDATE', version: target }, false, options);
  }

  enable(target: string, options?: CallOptions): Promise<string> {
    return this.#ask({ action: 'ENABLE', version: target }, true, options);
  }

  cancel(options?: CallOptions): Promise<string> {
    return this.#ask({ action: 'CANCEL' }, true, options);
  }

  #ask(body: object, isChange: boolean, options: CallOptions | undefined): Promise<string> {
    const read = (answer: Fields): string => textIn(answer, 'version');
    return this.#caller.ask({ path: '/v3/maintenance/downgrade', body, isChange, read }, options);
  }
}
