import program from '../../../package.json' with { type: 'json' };

/** The version of this program. */
export const { version } = program;

/** The versions of Node.js on which it runs. */
export const nodeRange = program.engines.node;
