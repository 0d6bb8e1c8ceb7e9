import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import kotlin.jvm.functions.Function1;
import org.jetbrains.kotlin.cli.common.CLIConfigurationKeys;
import org.jetbrains.kotlin.cli.common.config.ContentRootsKt;
import org.jetbrains.kotlin.cli.common.messages.MessageCollector;
import org.jetbrains.kotlin.cli.jvm.compiler.*;
import org.jetbrains.kotlin.cli.jvm.config.JvmContentRootsKt;
import com.intellij.openapi.util.Disposer;
import com.intellij.psi.*;
import org.jetbrains.kotlin.config.*;
import org.jetbrains.kotlin.descriptors.*;
import org.jetbrains.kotlin.descriptors.impl.TypeAliasConstructorDescriptor;
import org.jetbrains.kotlin.load.java.sam.*;
import org.jetbrains.kotlin.psi.*;
import org.jetbrains.kotlin.resolve.*;
import org.jetbrains.kotlin.resolve.calls.model.*;
import org.jetbrains.kotlin.resolve.calls.util.CallUtilKt;
import org.jetbrains.kotlin.resolve.sam.SamConstructorDescriptor;
import org.jetbrains.kotlin.resolve.source.PsiSourceElement;

/**
 * Prints the calls of a checkout as the Kotlin compiler resolves them; the form is that of gold.go. A construction leads to its class, a
 * call of a property's value to the property. Arguments: the checkout, then jars. Input: the files, one a line.
 */
public class GoldKotlin {
  static Path root;

  public static void main(String[] args) throws Exception {
    root = Paths.get(args[0]).toRealPath();
    List<String> files = new String(System.in.readAllBytes(), StandardCharsets.UTF_8).lines().filter(own -> !own.isEmpty()).toList();
    CompilerConfiguration configuration = new CompilerConfiguration();
    configuration.put(CLIConfigurationKeys.MESSAGE_COLLECTOR_KEY, MessageCollector.Companion.getNONE());
    configuration.put(CommonConfigurationKeys.MODULE_NAME, "gold");
    // Platforms' declarations stand beside those that expect them.
    Map<LanguageFeature, LanguageFeature.State> features = Map.of(LanguageFeature.MultiPlatformProjects, LanguageFeature.State.ENABLED);
    LanguageVersion version = LanguageVersion.KOTLIN_1_9;
    CommonConfigurationKeysKt.setLanguageVersionSettings(
        configuration, new LanguageVersionSettingsImpl(version, ApiVersion.createByLanguageVersion(version), Map.of(), features));
    for (String own : files)
      if (own.endsWith(".kt")) ContentRootsKt.addKotlinSourceRoot(configuration, root.resolve(own).toString());
      else JvmContentRootsKt.addJavaSourceRoot(configuration, root.resolve(own).toFile());
    for (int i = 1; i < args.length; i++) JvmContentRootsKt.addJvmClasspathRoot(configuration, new File(args[i]));
    configuration.put(JVMConfigurationKeys.JDK_HOME, new File(System.getProperty("java.home")));
    KotlinCoreEnvironment environment =
        KotlinCoreEnvironment.createForProduction(Disposer.newDisposable(), configuration, EnvironmentConfigFiles.JVM_CONFIG_FILES);
    BindingContext context =
        TopDownAnalyzerFacadeForJVM.analyzeFilesWithJavaIntegration(
                environment.getProject(),
                environment.getSourceFiles(),
                new NoScopeRecordCliBindingTrace(environment.getProject()),
                configuration,
                (Function1<? super com.intellij.psi.search.GlobalSearchScope, ? extends org.jetbrains.kotlin.load.kotlin.PackagePartProvider>)
                    environment::createPackagePartProvider)
            .getBindingContext();
    StringBuilder out = new StringBuilder();
    for (KtFile file : environment.getSourceFiles())
      file.accept(
          new KtTreeVisitorVoid() {
            @Override
            public void visitCallExpression(KtCallExpression call) {
              if (call.getCalleeExpression() instanceof KtSimpleNameExpression name) print(call, name);
              super.visitCallExpression(call);
            }

            @Override
            public void visitBinaryExpression(KtBinaryExpression call) {
              KtOperationReferenceExpression name = call.getOperationReference();
              if (name.getReferencedNameElementType().toString().equals("IDENTIFIER")) print(call, name);
              super.visitBinaryExpression(call);
            }

            void print(KtElement call, KtSimpleNameExpression name) {
              ResolvedCall<?> resolved = CallUtilKt.getResolvedCall(call, context);
              if (resolved == null || !resolved.getStatus().possibleTransformToSuccess()) return;
              String to = target(resolved);
              if (to == null) return;
              out.append(pathOf(file)).append('\t').append(lineOf(name)).append('\t');
              out.append(name.getReferencedName()).append('\t').append(to).append('\n');
            }
          });
    System.out.write(out.toString().getBytes(StandardCharsets.UTF_8));
    System.out.flush();
    System.exit(0);
  }

  /** The place of what a call means; null where the compiler does not know it. */
  static String target(ResolvedCall<?> resolved) {
    CallableDescriptor called = resolved.getResultingDescriptor();
    if (resolved instanceof VariableAsFunctionResolvedCall variable) {
      CallableDescriptor value = variable.getVariableCall().getResultingDescriptor();
      if (value instanceof PropertyDescriptor) called = value;
      else if (value instanceof VariableDescriptor && !(value instanceof org.jetbrains.kotlin.resolve.calls.util.FakeCallableDescriptorForObject)) return "-\t0";
    }
    if (org.jetbrains.kotlin.types.error.ErrorUtils.isError(called)) return null;
    DeclarationDescriptor declared = DescriptorUtils.unwrapFakeOverrideToAnyDeclaration(called).getOriginal();
    if (declared instanceof SamConstructorDescriptor sam) declared = sam.getBaseDescriptorForSynthetic();
    else if (declared instanceof TypeAliasConstructorDescriptor alias) declared = alias.getUnderlyingConstructorDescriptor().getContainingDeclaration();
    else if (declared instanceof ConstructorDescriptor) declared = declared.getContainingDeclaration();
    PsiElement found = declared instanceof DeclarationDescriptorWithSource source && source.getSource() instanceof PsiSourceElement psi ? psi.getPsi() : null;
    String path = found == null ? null : pathOf(found.getContainingFile());
    if (path == null) return "-\t0";
    // What several platforms define is as open.
    boolean isOpen = declared instanceof MemberDescriptor member && (member.isActual() || member.isExpect());
    if (isOpen || declared instanceof FunctionDescriptor method && method.getModality() == Modality.ABSTRACT) return "dispatch\t0";
    PsiElement name = found instanceof PsiNameIdentifierOwner owner ? owner.getNameIdentifier() : null;
    return path + "\t" + lineOf(name == null ? found : name);
  }

  /** The path in the checkout; null for a file of a library. */
  static String pathOf(PsiFile file) {
    if (file == null || file.getVirtualFile() == null || !file.getVirtualFile().isInLocalFileSystem()) return null;
    Path path = Paths.get(file.getVirtualFile().getPath());
    return path.startsWith(root) ? root.relativize(path).toString() : null;
  }

  static final Map<PsiFile, int[]> ends = new HashMap<>();

  static int lineOf(PsiElement element) {
    int[] own = ends.computeIfAbsent(element.getContainingFile(), GoldKotlin::lineEnds);
    return -Arrays.binarySearch(own, element.getTextRange().getStartOffset());
  }

  static int[] lineEnds(PsiFile file) {
    String text = file.getText();
    return java.util.stream.IntStream.range(0, text.length()).filter(i -> text.charAt(i) == '\n').toArray();
  }
}
