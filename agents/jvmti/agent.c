/* An agent for Java virtual machines: writes their compiled code to a jitdump, with the source lines of each method and of what was
 * inlined into it. `record` sees that the dump is mapped; `report`, `script` and `inject --jit` read it.
 *
 *   java -agentpath:/usr/lib/x86_64-linux-gnu/perfuse/libperfuse-jvmti.so[=dir=FOLDER] …
 *
 * The dump is FOLDER/jit-PID.dump; without FOLDER, in a new folder below $JITDUMPDIR, $HOME or the current one: .debug/jit/java-XXXXXX.
 * Sources: JVM Tool Interface 1.2 (Oracle); tools/perf/Documentation/jitdump-specification.txt of Linux. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jvmti.h>
#include <jvmticmlr.h>

#include "dump.h"

enum { NAME_MAX_BYTES = 4096, METHODS_MAX = 64 };

/* The one dump of this process: an agent has no other place for it. */
static struct dump dump;

static void complain(const char *format, ...)
{
	va_list list;
	va_start(list, format);
	fputs("perfuse-jvmti: ", stderr);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	va_end(list);
}

/* A method's lines; `file` is "package/Source.java". */
struct method {
	jmethodID id;
	jvmtiLineNumberEntry *lines;
	jint count;
	char file[NAME_MAX_BYTES];
};

/* Methods of one piece of code: those inlined into it come again and again. */
struct methods {
	struct method *list[METHODS_MAX];
	size_t count;
};

static void method_free(jvmtiEnv *jvmti, struct method *method)
{
	if (method->lines)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)method->lines);
	free(method);
}

/* "Lcom/example/Thing;" and "Thing.java" make "com/example/Thing.java". */
static void file_of_class(jvmtiEnv *jvmti, jclass class, char *file, size_t size)
{
	char *signature = NULL, *source = NULL;
	if ((*jvmti)->GetClassSignature(jvmti, class, &signature, NULL) == JVMTI_ERROR_NONE &&
		(*jvmti)->GetSourceFileName(jvmti, class, &source) == JVMTI_ERROR_NONE) {
		const char *slash = strrchr(signature, '/'), *package = signature[0] == 'L' ? signature + 1 : signature;
		snprintf(file, size, "%.*s%s", slash ? (int)(slash + 1 - package) : 0, package, source);
	}
	if (signature)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)signature);
	if (source)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)source);
}

static struct method *method_read(jvmtiEnv *jvmti, jmethodID id)
{
	jclass class = NULL;
	struct method *method = calloc(1, sizeof *method);
	if (!method)
		return NULL;
	method->id = id;
	if ((*jvmti)->GetMethodDeclaringClass(jvmti, id, &class) == JVMTI_ERROR_NONE)
		file_of_class(jvmti, class, method->file, sizeof method->file);
	if ((*jvmti)->GetLineNumberTable(jvmti, id, &method->count, &method->lines) != JVMTI_ERROR_NONE) {
		method->lines = NULL;
		method->count = 0;
	}
	return method;
}

/* What was read first makes room where there are too many. */
static const struct method *methods_get(jvmtiEnv *jvmti, struct methods *methods, jmethodID id)
{
	for (size_t i = 0; i < methods->count; i++)
		if (methods->list[i]->id == id)
			return methods->list[i];
	struct method *method = method_read(jvmti, id);
	if (!method)
		return NULL;
	if (methods->count == METHODS_MAX) {
		method_free(jvmti, methods->list[0]);
		memmove(methods->list, methods->list + 1, sizeof methods->list[0] * --methods->count);
	}
	methods->list[methods->count++] = method;
	return method;
}

/* The line of a place in the byte code; 0: unknown. The table's rows may be in any order. */
static uint32_t method_line(const struct method *method, jlocation place)
{
	jlocation best = -1;
	uint32_t line = 0;
	for (jint i = 0; i < method->count; i++)
		if (method->lines[i].start_location <= place && method->lines[i].start_location > best) {
			best = method->lines[i].start_location;
			line = (uint32_t)method->lines[i].line_number;
		}
	return line;
}

static void add_line(jvmtiEnv *jvmti, struct methods *methods, struct dump_lines *lines, const void *address, jmethodID id,
	jlocation place)
{
	const struct method *method = methods_get(jvmti, methods, id);
	uint32_t line = method ? method_line(method, place) : 0;
	if (line && method->file[0])
		dump_line(lines, (uint64_t)(uintptr_t)address, line, method->file);
}

/* The innermost method at each place, from what the machine tells of inlining; false where it tells nothing. */
static bool inlined_lines(jvmtiEnv *jvmti, struct methods *methods, struct dump_lines *lines, const void *info)
{
	bool any = false;
	for (const jvmtiCompiledMethodLoadRecordHeader *header = info; header; header = header->next) {
		if (header->kind != JVMTI_CMLR_INLINE_INFO || header->majorinfoversion != JVMTI_CMLR_MAJOR_VERSION_1)
			continue;
		const jvmtiCompiledMethodLoadInlineRecord *record = (const void *)header;
		for (jint i = 0; i < record->numpcs; i++) {
			const PCStackInfo *at = &record->pcinfo[i];
			if (at->numstackframes > 0)
				add_line(jvmti, methods, lines, at->pc, at->methods[0], at->bcis[0]);
			any = true;
		}
	}
	return any;
}

/* "Lcom/example/Thing;work(I)V": readers make "com.example.Thing.work(int)" of it. */
static void name_of_method(jvmtiEnv *jvmti, jmethodID id, char *name, size_t size)
{
	char *class_signature = NULL, *own = NULL, *signature = NULL;
	jclass class = NULL;
	snprintf(name, size, "unknown method");
	if ((*jvmti)->GetMethodDeclaringClass(jvmti, id, &class) == JVMTI_ERROR_NONE &&
		(*jvmti)->GetClassSignature(jvmti, class, &class_signature, NULL) == JVMTI_ERROR_NONE &&
		(*jvmti)->GetMethodName(jvmti, id, &own, &signature, NULL) == JVMTI_ERROR_NONE)
		snprintf(name, size, "%s%s%s", class_signature, own, signature);
	char *const all[] = { class_signature, own, signature };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i])
			(*jvmti)->Deallocate(jvmti, (unsigned char *)all[i]);
}

static void JNICALL on_method(jvmtiEnv *jvmti, jmethodID id, jint size, const void *address, jint map_length,
	const jvmtiAddrLocationMap *map, const void *compile_info)
{
	char name[NAME_MAX_BYTES];
	struct dump_lines lines = { 0 };
	struct methods methods = { 0 };
	if (size <= 0 || !address)
		return;
	name_of_method(jvmti, id, name, sizeof name);
	if (!inlined_lines(jvmti, &methods, &lines, compile_info))
		for (jint i = 0; map && i < map_length; i++)
			add_line(jvmti, &methods, &lines, map[i].start_address, id, map[i].location);
	dump_code(&dump, name, address, (uint64_t)size, &lines);
	dump_lines_free(&lines);
	for (size_t i = 0; i < methods.count; i++)
		method_free(jvmti, methods.list[i]);
}

/* The interpreter, stubs. */
static void JNICALL on_dynamic(jvmtiEnv *jvmti, const char *name, const void *address, jint size)
{
	(void)jvmti;
	if (size > 0 && address)
		dump_code(&dump, name, address, (uint64_t)size, NULL);
}

static void JNICALL on_death(jvmtiEnv *jvmti, JNIEnv *jni)
{
	(void)jvmti;
	(void)jni;
	dump_close(&dump);
	if (dump.error)
		complain("the dump is not whole: %s: %s", dump.path, strerror(dump.error));
}

static jint fail(jvmtiEnv *jvmti, jvmtiError error, const char *what)
{
	char *name = NULL;
	(*jvmti)->GetErrorName(jvmti, error, &name);
	complain("%s: %s", what, name ? name : "unknown error");
	return JNI_ERR;
}

static jint watch(jvmtiEnv *jvmti)
{
	static const jvmtiEvent events[] = { JVMTI_EVENT_COMPILED_METHOD_LOAD, JVMTI_EVENT_DYNAMIC_CODE_GENERATED, JVMTI_EVENT_VM_DEATH };
	jvmtiCapabilities wanted;
	jvmtiEventCallbacks callbacks;
	memset(&wanted, 0, sizeof wanted);
	memset(&callbacks, 0, sizeof callbacks);
	wanted.can_generate_compiled_method_load_events = 1;
	wanted.can_get_line_numbers = 1;
	wanted.can_get_source_file_name = 1;
	jvmtiError error = (*jvmti)->AddCapabilities(jvmti, &wanted);
	if (error != JVMTI_ERROR_NONE)
		return fail(jvmti, error, "the machine does not tell of compiled code");
	callbacks.CompiledMethodLoad = on_method;
	callbacks.DynamicCodeGenerated = on_dynamic;
	callbacks.VMDeath = on_death;
	error = (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof callbacks);
	for (size_t i = 0; error == JVMTI_ERROR_NONE && i < sizeof events / sizeof *events; i++)
		error = (*jvmti)->SetEventNotificationMode(jvmti, JVMTI_ENABLE, events[i], NULL);
	return error == JVMTI_ERROR_NONE ? JNI_OK : fail(jvmti, error, "events cannot be asked for");
}

static jint start(JavaVM *vm, const char *options, bool running)
{
	static const jvmtiEvent past[] = { JVMTI_EVENT_DYNAMIC_CODE_GENERATED, JVMTI_EVENT_COMPILED_METHOD_LOAD };
	jvmtiEnv *jvmti = NULL;
	const char *folder = NULL;
	if (options && strncmp(options, "dir=", 4) == 0 && options[4]) {
		folder = options + 4;
	} else if (options && options[0]) {
		complain("unknown option '%s': there is dir=FOLDER", options);
		return JNI_ERR;
	}
	if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK) {
		complain("this machine has no JVM Tool Interface 1.2");
		return JNI_ERR;
	}
	if (dump.open)
		return JNI_OK; /* attached once more */
	if (!dump_open(&dump, folder)) {
		complain("no dump can be written: %s: %s", dump.path, strerror(dump.error));
		return JNI_ERR;
	}
	jint status = watch(jvmti);
	for (size_t i = 0; running && status == JNI_OK && i < sizeof past / sizeof *past; i++)
		(*jvmti)->GenerateEvents(jvmti, past[i]); /* what was compiled before */
	return status;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	return start(vm, options, false);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	(void)reserved;
	return start(vm, options, true);
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	(void)vm;
	dump_close(&dump);
}
