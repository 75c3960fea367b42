import io.tus.java.client.ProtocolException;
import io.tus.java.client.TusClient;
import io.tus.java.client.TusURLMemoryStore;
import io.tus.java.client.TusUpload;
import io.tus.java.client.TusUploader;
import java.io.File;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.Map;
import java.util.Set;

/**
 * Uploads a file with tus-java-client 0.5, and resumes after a lost connection. Reads BASE_URL and ACCESS_TOKEN from the
 * environment.
 *
 * <pre>
 * java -cp tus-java-client-0.5.1.jar Upload.java FILE NAME
 * </pre>
 */
public class Upload {
    private static final int TRIES = 5;

    public static void main(String[] args) throws Exception {
        var client = new TusClient();
        client.setUploadCreationURL(URI.create(System.getenv("BASE_URL") + "/users/me/uploads").toURL());
        client.setHeaders(Map.of("Cookie", "access_token=" + System.getenv("ACCESS_TOKEN")));
        // Remembers the URL of the upload while the program runs. Implement TusURLStore to keep it longer:
        // otherwise an upload that the program leaves unfinished keeps its space reserved until it expires.
        client.enableResuming(new TusURLMemoryStore());
        var file = new File(args[0]);
        long reached = 0;
        for (int tries = 0; ; tries++) {
            // The client closes the file at the end of each attempt.
            var upload = new TusUpload(file);
            upload.setMetadata(Map.of("filename", args[1]));
            try (var content = upload.getInputStream()) {
                TusUploader uploader = client.resumeOrCreateUpload(upload);
                if (uploader.getOffset() > reached) {
                    reached = uploader.getOffset();
                    tries = 0;
                }
                send(uploader);
                return;
            } catch (ProtocolException error) {
                var answer = error.getCausingConnection();
                if (tries == TRIES || answer == null || !isTemporary(answer)) throw error;
            } catch (IOException error) {
                if (tries == TRIES) throw error;
            }
            Thread.sleep(1000L * tries);
        }
    }

    private static void send(TusUploader uploader) throws ProtocolException, IOException {
        while (uploader.uploadChunk() > -1) {
            // uploader.getOffset() is the progress.
        }
        uploader.finish();
    }

    /** Whether to try again. A response that was cut off has the status -1, or lacks a header. */
    private static boolean isTemporary(HttpURLConnection answer) throws IOException {
        int status = answer.getResponseCode();
        boolean isCutOff = status == -1 || (status < 300 && answer.getHeaderField("Upload-Offset") == null);
        return isCutOff || status >= 500 || Set.of(409, 423, 429).contains(status);
    }
}
