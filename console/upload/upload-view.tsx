export function UploadView() {
  return <h1>Upload</h1>;
}
