// The subcommands of kubectl ballast: what each is for, how it is used, and how it is run. Nothing
// of one is loaded before somebody asks for it.
import { answerCommand } from '../../../shared/arguments.ts';

export interface Subcommand {
  readonly purpose: string;
  /** For completion, which offers the words and options that stand in it. */
  readonly usage: (calledAs: string) => Promise<string>;
  /** Sets the exit code of the process, as the command of `npm run` does. */
  readonly run: (args: readonly string[], calledAs: string) => Promise<void>;
}

export const subcommands: Readonly<Record<string, Subcommand>> = {
  audit: {
    purpose: 'what is stored in which version, and whether an upgrade of CRDs may be applied',
    usage: async (calledAs) => {
      const { PLANE_USAGE, usageOf } = await import('../../../functions/storage-audit/options.ts');
      return `${usageOf(calledAs)}${PLANE_USAGE}`;
    },
    run: async (args, calledAs) => {
      const [{ runAsProgram }, { etcdUrlOfPlane }] = await Promise.all([
        import('../../../functions/storage-audit/program.ts'),
        import('../../try/local/watch/address.ts'),
      ]);
      await runAsProgram({ findEtcd: etcdUrlOfPlane, calledAs }, args);
    },
  },
  backup: {
    purpose: 'takes a checked backup of any etcd into S3 or a file, or removes one',
    usage: async (calledAs) => {
      const [{ usageOf }, { removalUsageOf }] = await Promise.all([
        import('../../../functions/etcd-backup/options.ts'),
        import('../../../functions/etcd-backup/remove/options.ts'),
      ]);
      return `${usageOf([calledAs])}${removalUsageOf([calledAs])}`;
    },
    run: async (args, calledAs) => {
      const { runAsProgram } = await import('../../../functions/etcd-backup/program.ts');
      await runAsProgram(args, [calledAs]);
    },
  },
  migrate: printing(
    'prints what to apply so that a kind is moved to its current version',
    () => import('../migrate/command.ts'),
  ),
  'nats-rights': printing(
    'prints the accounts of a feed and its readers for the configuration of a NATS',
    () => import('../nats-rights/command.ts'),
  ),
  rights: printing(
    'prints what to apply so that a function has its rights in a namespace',
    () => import('../rights/command.ts'),
  ),
  takeover: {
    purpose: 'prints how a cluster whose operator is gone would be taken over',
    usage: async (calledAs) => (await import('../takeover/command.ts')).usageOf(calledAs),
    run: async (args, calledAs) => {
      const [{ runAsProgram }, { usageOf }] = await Promise.all([
        import('../takeover/program.ts'),
        import('../takeover/command.ts'),
      ]);
      await runAsProgram(args, usageOf(calledAs));
    },
  },
  watch: {
    purpose: 'shows what a reader of the feed holds, or compares that with the API server',
    usage: async (calledAs) => (await import('../../try/local/watch/options.ts')).usageOf(calledAs),
    run: async (args, calledAs) => {
      const { runAsProgram } = await import('../../try/local/watch/program.ts');
      await runAsProgram(calledAs, args);
    },
  },
};

interface Printing {
  readonly usageOf: (calledAs: string) => string;
  readonly answer: (args: readonly string[], usage: string) => string | Promise<string>;
}

function printing(purpose: string, load: () => Promise<Printing>): Subcommand {
  return {
    purpose,
    usage: async (calledAs) => (await load()).usageOf(calledAs),
    run: async (args, calledAs) => {
      const { answer, usageOf } = await load();
      await answerCommand(usageOf(calledAs), answer, args);
    },
  };
}
