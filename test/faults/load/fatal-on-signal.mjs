/** Loaded into the server before its own code: mistakes that nobody foresaw, at the moment of our choice. */
process.on('SIGUSR2', () => {
  setImmediate(() => {
    throw new Error('thrown on purpose');
  });
});
process.on('SIGWINCH', () => {
  void Promise.reject(new Error('rejected on purpose'));
});
